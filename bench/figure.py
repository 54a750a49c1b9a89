"""Figures as SVG: bars of ratios, and small panels of growth. Only what `bench/compare` draws; the same results give the same bytes."""

import html
import math

INK, SOFT, GRID, PAPER = "#24292f", "#57606a", "#d8dee4", "#ffffff"
# Distinct for people who do not see all colours, and distinct by shape too.
COLOURS = ["#0072b2", "#d55e00", "#009e73"]
DARK = {INK: "#e6edf3", SOFT: "#9198a1", GRID: "#30363d", PAPER: "#0d1117", "#0072b2": "#56b4e9", "#d55e00": "#e69f00", "#009e73": "#2ec79a"}
SHAPES = ["circle", "square", "triangle"]


class Picture:
    def __init__(self, width, height, title):
        self.width, self.height, self.parts = width, height, []
        self.title = title

    def rectangle(self, x, y, width, height, colour, rounding=0):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{rounding}" fill="{colour}"/>')

    def line(self, points, colour, width=1.0, dash=None):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dashed}/>')

    def text(self, x, y, words, size=12, colour=INK, anchor="start", weight="normal"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}" font-weight="{weight}">{html.escape(words)}</text>')

    def mark(self, x, y, which, colour, size=3.2):
        if SHAPES[which] == "circle":
            self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="{colour}"/>')
        elif SHAPES[which] == "square":
            self.rectangle(x - size + 0.4, y - size + 0.4, 2 * size - 0.8, 2 * size - 0.8, colour)
        else:
            corners = f"{x:.1f},{y - size - 0.6:.1f} {x + size + 0.4:.1f},{y + size - 0.4:.1f} {x - size - 0.4:.1f},{y + size - 0.4:.1f}"
            self.parts.append(f'<polygon points="{corners}" fill="{colour}"/>')

    def svg(self):
        dark = "".join(f'[fill="{light}"]{{fill:{dark}}}[stroke="{light}"]{{stroke:{dark}}}' for light, dark in DARK.items())
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}" role="img" font-family="system-ui, sans-serif">',
                f"<title>{html.escape(self.title)}</title>",
                f"<style>@media (prefers-color-scheme: dark){{{dark}}}</style>",
                f'<rect width="{self.width}" height="{self.height}" fill="{PAPER}"/>',
                *self.parts,
                "</svg>",
                "",
            ]
        )


def ratios(rows, title, caption):
    """Bars on a logarithmic axis: how many times as fast as its strongest peer. Rows are (task, peer, ratio); below 1, the bar goes to the left."""
    left, right, top, row_height = 430, 80, 64, 34
    picture = Picture(900, top + row_height * len(rows) + 34, title)
    lowest = min(0.5, *(value / 1.2 for _, _, value in rows))
    highest = max(10, *(value * 1.1 for _, _, value in rows))
    at = lambda value: left + (picture.width - left - right) * math.log(value / lowest) / math.log(highest / lowest)
    bottom = top + row_height * len(rows)
    picture.text(16, 26, title, 16, weight="600")
    picture.text(16, 46, caption, 12, SOFT)
    for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200):
        if lowest <= tick <= highest:
            picture.line([(at(tick), top - 4), (at(tick), bottom)], SOFT if tick == 1 else GRID, 1.4 if tick == 1 else 1)
            picture.text(at(tick), bottom + 18, f"{tick:g} ×", 11, SOFT, "middle")
    for number, (task, peer, value) in enumerate(rows):
        y = top + number * row_height
        picture.text(left - 12, y + 14, task, 12.5, anchor="end")
        picture.text(left - 12, y + 28, peer, 10.5, SOFT, "end")
        begin, end = sorted((at(1), at(value)))
        picture.rectangle(begin, y + 7, max(1.5, end - begin), row_height - 14, COLOURS[0] if value >= 1 else COLOURS[1], 2)
        picture.text(end + 6, y + 21, f"{value:.2f} ×" if value < 1 else f"{value:.1f} ×", 12, weight="600")
    return picture.svg()


def decades(low, high):
    """Powers of ten that lie between two values; if there is only one, also its halves and doubles."""
    ticks = [10.0**power for power in range(-4, 7) if low <= 10.0**power <= high]
    return ticks if len(ticks) > 1 else [base * 10.0**power for power in range(-4, 7) for base in (1, 2, 5) if low <= base * 10.0**power <= high]


def short(value):
    return f"{value / 1000:g} k" if value >= 1000 else f"{value:g}"


def panels(title, caption, unit, names, series, columns=4):
    """A small logarithmic panel for each name, all with the same axes. `series` has (label, {name: ([(x, y)], words)}); a dashed line shows what linear growth would be."""
    width, height, gap_x, gap_y, left, top = 196, 150, 24, 46, 54, 92
    lines = -(-len(names) // columns)
    picture = Picture(left + columns * (width + gap_x), top + lines * (height + gap_y) + 14, title)
    picture.text(16, 26, title, 16, weight="600")
    picture.text(16, 46, caption, 12, SOFT)
    x = 16
    for number, (label, _) in enumerate(series):
        picture.mark(x + 5, 64, number, COLOURS[number])
        picture.text(x + 15, 68, label, 12)
        x += 40 + 7.2 * len(label)
    picture.line([(x, 64), (x + 24, 64)], SOFT, 1, "3 3")
    picture.text(x + 30, 68, "linear growth", 12, SOFT)
    points = [point for _, of in series for one, _ in of.values() for point in one]
    x_low, x_high = min(x for x, _ in points) / 1.25, max(x for x, _ in points) * 1.25
    y_low, y_high = min(y for _, y in points) / 1.4, max(y for _, y in points) * 1.4
    for number, name in enumerate(names):
        x0, y0 = left + number % columns * (width + gap_x), top + number // columns * (height + gap_y) + 18
        at_x = lambda value, x0=x0: x0 + width * math.log(value / x_low) / math.log(x_high / x_low)
        at_y = lambda value, y0=y0: y0 + height - height * math.log(value / y_low) / math.log(y_high / y_low)
        picture.text(x0, y0 - 6, name, 12.5, weight="600")
        picture.text(x0 + width, y0 - 6, " · ".join(of[name][1] for _, of in series if name in of and of[name][1]), 10.5, SOFT, "end")
        for tick in decades(y_low, y_high):
            picture.line([(x0, at_y(tick)), (x0 + width, at_y(tick))], GRID)
            if number % columns == 0:
                picture.text(x0 - 6, at_y(tick) + 4, f"{short(tick)} {unit}", 10, SOFT, "end")
        for tick in decades(x_low, x_high):
            picture.line([(at_x(tick), y0), (at_x(tick), y0 + height)], GRID)
            if number + columns >= len(names):
                picture.text(at_x(tick), y0 + height + 15, f"{short(tick)} MB", 10, SOFT, "middle")
        for which, (_, of) in enumerate(series):
            if name not in of or not of[name][0]:
                continue
            line = of[name][0]
            (first_x, first_y), (last_x, _) = line[0], line[-1]
            end = min(last_x, first_x * y_high / first_y)
            picture.line([(at_x(first_x), at_y(first_y)), (at_x(end), at_y(first_y * end / first_x))], SOFT, 0.8, "3 3")
            picture.line([(at_x(x), at_y(y)) for x, y in line], COLOURS[which], 1.6)
            for x, y in line:
                picture.mark(at_x(x), at_y(y), which, COLOURS[which])
    return picture.svg()
