"""Compiled numerical loops on arrays.

The folder ``core`` contains their source code in C. It is compiled when the package is built, into
shared libraries in this folder. ``library`` loads the one that suits the processor. Each other file
calls one part of it: arrays in, arrays out.
"""
