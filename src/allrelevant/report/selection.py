"""stub"""
from .sections import Page
PAGE = Page("selection.html", lambda d: {}, ())
