"""Line and point plots as SVG files, of the little that the study needs: no library, the same bytes for
the same data. A plot is a list of curves; a curve is a name and its points (x, y)."""

import math

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 66, 170, 34, 48
# Okabe and Ito's colours, told apart by those who see few; each with a mark and a dash of its own, so
# that a print in grey can be read too.
STYLES = [
    ("#0072b2", "circle", ""),
    ("#d55e00", "square", "6 3"),
    ("#009e73", "triangle", "2 3"),
    ("#cc79a7", "diamond", "8 3 2 3"),
    ("#56b4e9", "circle", "4 4"),
    ("#e69f00", "square", "1 3"),
    ("#000000", "triangle", ""),
    ("#7f7f7f", "diamond", "6 2"),
    ("#882255", "circle", "3 2"),
]


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def nice_step(span, most):
    """The smallest of 1, 2, 5 times a power of ten that cuts SPAN into at most MOST pieces."""
    step = 10.0 ** math.floor(math.log10(span / most))
    for factor in (1, 2, 5, 10):
        if span / (step * factor) <= most:
            return step * factor
    return step * 10


def number(value):
    if value == 0:
        return "0"
    if abs(value) >= 1e6:
        return f"{value / 1e6:g}M"
    if abs(value) >= 1e4:
        return f"{value / 1e3:g}k"
    return f"{value:g}"


class Axis:
    """From values to positions, linear or logarithmic, with its ticks."""

    def __init__(self, values, start, end, log=False, low=None, high=None):
        self.log, self.start, self.end = log, start, end
        values = [v for v in values if not log or v > 0] or [1]
        low = min(values) if low is None else low
        high = max(values) if high is None else high
        if log:
            self.low, self.high = math.floor(math.log10(low)), math.ceil(math.log10(high))
            self.high += self.low == self.high
            self.ticks = [10.0**e for e in range(self.low, self.high + 1)]
        else:
            high = high if high > low else low + 1
            step = nice_step(high - low, 6)
            first = math.floor(low / step + 1e-9)
            last = math.ceil(high / step - 1e-9)
            self.low, self.high = first * step, last * step
            self.ticks = [i * step for i in range(first, last + 1)]

    def at(self, value):
        value = math.log10(max(value, 10.0**self.low)) if self.log else value
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def mark(shape, x, y, colour):
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>'
    if shape == "square":
        return f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" fill="{colour}"/>'
    if shape == "triangle":
        points = f"{x:.1f},{y - 4:.1f} {x - 4:.1f},{y + 3:.1f} {x + 4:.1f},{y + 3:.1f}"
    else:
        points = f"{x:.1f},{y - 4.5:.1f} {x + 4.5:.1f},{y:.1f} {x:.1f},{y + 4.5:.1f} {x - 4.5:.1f},{y:.1f}"
    return f'<polygon points="{points}" fill="{colour}"/>'


def frame(x_axis, y_axis, x_label, y_label):
    out = []
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for value in y_axis.ticks:
        y = y_axis.at(value)
        out.append(f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{number(round(value, 10))}</text>')
    for value in x_axis.ticks:
        x = x_axis.at(value)
        out.append(f'<path d="M{x:.1f} {bottom}v5" stroke="#444"/>')
        out.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{number(round(value, 10))}</text>')
    out.append(f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="#444"/>')
    out.append(f'<text x="{(LEFT + right) / 2:.0f}" y="{HEIGHT - 10}" text-anchor="middle">{escape(x_label)}</text>')
    middle = (TOP + bottom) / 2
    out.append(f'<text transform="translate(16 {middle:.0f}) rotate(-90)" text-anchor="middle">{escape(y_label)}</text>')
    return out


def write(path, title, x_label, y_label, curves, x_log=False, y_log=False, y_low=None, y_high=None, lines=True):
    """CURVES: [(name, [(x, y), ...]), ...]."""
    points = [p for _, ps in curves for p in ps]
    x_axis = Axis([x for x, _ in points], LEFT, WIDTH - RIGHT, x_log)
    y_axis = Axis([y for _, y in points], HEIGHT - BOTTOM, TOP, y_log, y_low, y_high)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="12" role="img" aria-label="{escape(title)}">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="20" font-size="14" font-weight="bold">{escape(title)}</text>',
    ]
    out += frame(x_axis, y_axis, x_label, y_label)
    for i, (name, ps) in enumerate(curves):
        colour, shape, dash = STYLES[i % len(STYLES)]
        places = [(x_axis.at(x), y_axis.at(y)) for x, y in ps]
        if lines and len(places) > 1:
            d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
            dashes = f' stroke-dasharray="{dash}"' if dash else ""
            out.append(f'<path d="{d}" fill="none" stroke="{colour}" stroke-width="1.5"{dashes}/>')
        out += [mark(shape, x, y, colour) for x, y in places]
        y = TOP + 8 + 18 * i
        out.append(mark(shape, WIDTH - RIGHT + 16, y, colour))
        out.append(f'<text x="{WIDTH - RIGHT + 26}" y="{y + 4}">{escape(name)}</text>')
    out.append("</svg>\n")
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(out))
