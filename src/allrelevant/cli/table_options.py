"""Options of every command that reads a table: its columns, and what to make of them."""

from __future__ import annotations

import click

from .tasks import AUTO

target_option = click.option(
    "-t", "--target", metavar="COLUMN", required=True, help="Column to predict."
)
drop_option = click.option(
    "--drop",
    metavar="COLUMN",
    multiple=True,
    help="Column to leave out, such as an id. May be given several times.",
)
separator_option = click.option(
    "--sep", metavar="TEXT", help="Separator of a text table, such as ';'."
)
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print warnings and errors only.")
standardize_option = click.option(
    "--no-standardize",
    "standardize",
    is_flag=True,
    flag_value=False,
    default=True,
    help="Leave the features on the scale they have. For features that share one.",
)
classes_or_number_option = click.option(
    "--task",
    type=click.Choice([AUTO, "classification", "regression"]),
    default=AUTO,
    show_default=True,
    help="What to predict: classes or a number. 'auto' goes by the target.",
)
