"""The rows of a terminal screen and what can be done to them: write, erase, insert, delete, scroll.

A row is a string with one character per column and no blanks at its end that nobody wrote, so that long runs
of text cost one slice and not one step per character.
"""

from __future__ import annotations

from collections import deque

from forge.core.shell.session.width import FILLER


class Grid:
    """Rows, cursor and scroll region. `column` equals the number of columns while a wrap is due."""

    def __init__(self, rows: int, columns: int, keep: deque[str] | None) -> None:
        self.height, self.width = rows, columns
        self.rows = [""] * rows
        self.row = self.column = 0
        self.top, self.bottom = 0, rows - 1
        self.kept = keep

    def write(self, cells: str, *, wrap: bool = True, insert: bool = False) -> None:
        """Writes cells at the cursor, on further rows if they do not fit."""
        while cells:
            if self.column >= self.width:
                if wrap:
                    self.column = 0
                    self.line_feed()
                else:
                    self.column = self.width - 1
            room = self.width - self.column
            part = cells[:room]
            if len(cells) > room and cells[room] == FILLER:
                part = part[:-1] or part  # a wide character is not divided, unless there is one column at all
            self._put(part, insert=insert)
            cells = cells[len(part) :]
            if len(part) < room and cells:
                self.column = self.width

    def write_lines(self, lines: list[str]) -> None:
        """Writes plain lines, each but the last followed by carriage return and line feed."""
        whole = self.top == 0 and self.bottom == self.height - 1
        if not whole or max(map(len, lines)) > self.width:
            for line in lines[:-1]:
                self.write(line)
                self.column = 0
                self.line_feed()
            self.write(lines[-1])
            return
        before = min(self.bottom - self.row, len(lines) - 1)
        for line in lines[: before + 1]:
            self.write(line)
            self.column = 0
            self.row += 1
        self.row -= 1
        self._roll(lines[before + 1 :])
        self.column = len(lines[-1]) if len(lines) > before + 1 or lines[-1] else 0

    def _roll(self, lines: list[str]) -> None:
        if not lines:
            return
        rows = self.rows + lines
        gone = len(rows) - self.height
        if self.kept is not None:
            self.kept.extend(rows[:gone])
        self.rows = rows[gone:]

    def line_feed(self) -> None:
        """One row down; at the end of the scroll region its rows move up."""
        if self.row == self.bottom:
            self.scroll(1)
        elif self.row < self.height - 1:
            self.row += 1

    def reverse_feed(self) -> None:
        """One row up; at the start of the scroll region its rows move down."""
        if self.row == self.top:
            self.scroll(-1)
        elif self.row > 0:
            self.row -= 1

    def scroll(self, count: int) -> None:
        """Moves the rows of the scroll region up, or down for a negative count."""
        self._shift(self.top, count, keep=self.top == 0)

    def shift_lines(self, count: int) -> None:
        """Deletes lines at the cursor, or inserts them for a negative count."""
        if self.top <= self.row <= self.bottom:
            self._shift(self.row, count, keep=False)
            self.column = 0

    def _shift(self, first: int, count: int, *, keep: bool) -> None:
        size = self.bottom + 1 - first
        number = min(abs(count), size)
        blank = [""] * number
        if count < 0:
            self.rows[first : self.bottom + 1] = blank + self.rows[first : self.bottom + 1 - number]
            return
        if keep and self.kept is not None:
            self.kept.extend(self.rows[first : first + number])
        self.rows[first : self.bottom + 1] = self.rows[first + number : self.bottom + 1] + blank

    def erase_display(self, how: int) -> None:
        """0: from the cursor on; 1: up to the cursor; 2 and 3: everything."""
        if how == 0:
            self.erase_line(0)
            self.rows[self.row + 1 :] = [""] * (self.height - self.row - 1)
        elif how == 1:
            self.erase_line(1)
            self.rows[: self.row] = [""] * self.row
        elif how == 2:
            self.rows = [""] * self.height
        elif how == 3 and self.kept is not None:
            self.kept.clear()

    def erase_line(self, how: int) -> None:
        """0: from the cursor on; 1: up to the cursor; 2: the line."""
        column = min(self.column, self.width - 1)
        if how == 0:
            self.rows[self.row] = self._half(self.rows[self.row], column)[:column].rstrip(" ")
        elif how == 1:
            self._replace(0, column + 1, " " * (column + 1))
        elif how == 2:
            self.rows[self.row] = ""

    def erase_chars(self, count: int) -> None:
        """Blanks from the cursor on; the rest stays where it is."""
        column = min(self.column, self.width - 1)
        end = min(column + count, self.width)
        self._replace(column, end, " " * (end - column))

    def insert_chars(self, count: int) -> None:
        """Blanks at the cursor; the rest of the line moves right."""
        column = min(self.column, self.width - 1)
        row = self._half(self.rows[self.row], column)
        if column < len(row):
            moved = row[:column] + " " * min(count, self.width) + row[column:]
            self.rows[self.row] = self._half(moved, self.width)[: self.width]

    def delete_chars(self, count: int) -> None:
        """Removes characters at the cursor; the rest of the line moves left."""
        column = min(self.column, self.width - 1)
        row = self._half(self._half(self.rows[self.row], column), column + count)
        self.rows[self.row] = (row[:column] + row[column + count :]).rstrip(" ")

    def move(self, row: int, column: int) -> None:
        """Puts the cursor somewhere on the screen."""
        self.row = max(0, min(row, self.height - 1))
        self.column = max(0, min(column, self.width - 1))

    def resize(self, rows: int, columns: int) -> None:
        """Another size: lines are cut, not wrapped anew; rows that no longer fit leave at the top."""
        gone = max(0, self.row + 1 - rows)
        if gone and self.kept is not None:
            self.kept.extend(self.rows[:gone])
        kept = [self._half(row, columns)[:columns] for row in self.rows[gone:][:rows]]
        self.rows = kept + [""] * (rows - len(kept))
        self.height, self.width = rows, columns
        self.top, self.bottom = 0, rows - 1
        self.move(self.row - gone, self.column)

    def before_cursor(self) -> tuple[int, str]:
        """The column of the character before the cursor and its cell; ("" if there is none)."""
        row = self.rows[self.row]
        column = self.column - 1
        if 0 < column < len(row) and row[column] == FILLER:
            column -= 1
        return column, row[column] if 0 <= column < len(row) else ""

    def set_cell(self, column: int, cell: str) -> None:
        """Replaces one cell of the cursor's row."""
        row = self.rows[self.row]
        self.rows[self.row] = row[:column] + cell + row[column + 1 :]

    def _put(self, part: str, *, insert: bool) -> None:
        if insert:
            self.insert_chars(len(part))
        column = self.column
        end = column + len(part)
        row = self.rows[self.row]
        if len(row) == column and FILLER not in row[-1:]:
            self.rows[self.row] = row + part
        else:
            self._replace(column, end, part)
        self.column = end

    def _replace(self, start: int, end: int, cells: str) -> None:
        row = self.rows[self.row]
        if FILLER in row:
            row = self._half(self._half(row, start), end)
        row = row[:start].ljust(start) + cells + row[end:]
        self.rows[self.row] = row if end < len(row) else row.rstrip(" ") if cells.isspace() else row

    def _half(self, row: str, column: int) -> str:
        """A row in which no wide character lies across a column; a half of one becomes a blank."""
        if 0 < column < len(row) and row[column] == FILLER:
            return f"{row[: column - 1]}  {row[column + 1 :]}"
        return row
