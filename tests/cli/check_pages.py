"""check_pages.py FOLDER CASE...: the numbers of CASE.txt, .md, .csv and .html against those of CASE.json.

A page may round: what it says must be what the JSON form says, to half of its last digit.
"""

import csv
import html
import json
import re
import sys

UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9, "d": 86400e9, "%": 0.01, "": 1}
failed = compared = 0


def fail(*words):
    global failed
    failed += 1
    if failed <= 20:
        print("FAIL:", *words)


def same(said, value, what):
    """Whether '6.62 ms', '<0.1%', '1,348' is VALUE, in ns or as a share, as far as it says."""
    global compared
    compared += 1
    match = re.fullmatch(r"(<?)([\d,]+(?:\.\d+)?)\s*(ns|us|ms|s|min|h|d|%|)", said.strip())
    if not match:
        return fail(what, "says", repr(said), "where", value, "was expected")
    number, unit = match.group(2).replace(",", ""), UNITS[match.group(3)]
    digits = len(number.split(".")[1]) if "." in number else 0
    if match.group(1):
        good = 0 <= value < float(number) * unit
    else:
        # The JSON form is rounded as well, to six digits of a share and a tenth of a nanosecond.
        good = abs(float(number) * unit - value) <= (0.5 * 10.0**-digits) * unit * 1.001 + (1e-6 if unit == 0.01 else 0.1)
    if not good:
        fail(what, "says", repr(said), "where it is", value)


def check_rows(rows, meant, columns, what):
    """ROWS of dicts by heading; COLUMNS: heading -> function of one of MEANT."""
    if len(rows) != len(meant):
        return fail(what, "has", len(rows), "rows, not", len(meant))
    for row, one in zip(rows, meant):
        for heading, value in columns.items():
            expected = value(one)
            if heading in row and not (row[heading] in ("", "one-way") and not expected):
                same(row[heading], expected, f"{what}, {heading}")


def nodes_of(report, patterns):
    return [node for pattern in patterns for node in pattern["nodes"]]


def time_of(sums, name):
    """One-way messages have no latency."""
    return sums.get(name + "_ns", 0)


# What JSON has for the columns of pages.
OPERATION = {
    "time%": lambda one: one["share"], "time": lambda one: one["share"], "requests": lambda one: one["count"],
    "errors": lambda one: one["errors"], "mean": lambda one: one["latency"]["mean_ns"], "p95": lambda one: one["latency"]["p95_ns"],
}
NODE = {
    "self%": lambda one: one["share"], "self": lambda one: one["self_ns"], "calls": lambda one: one["count"],
    "errors": lambda one: one["errors"], "one-way": lambda one: one["one_way"],
    "a call": lambda one: one["self_ns"] / one["count"] if one["count"] else 0,
}
CALL = {
    "calls": lambda one: one["count"], "total%": lambda one: one["latency_share"], "self%": lambda one: one["self_share"],
    "self": lambda one: time_of(one["self"], "mean"), "mean": lambda one: time_of(one["latency"], "mean"),
    "p50": lambda one: time_of(one["latency"], "p50"), "p95": lambda one: time_of(one["latency"], "p95"),
    "p99": lambda one: time_of(one["latency"], "p99"), "errors": lambda one: one["errors"],
}


def text_table(lines, heading):
    """The table under the line of HEADING: columns end where their names do."""
    ends = [(match.group(), match.end()) for match in re.finditer(r"\S+(?: \S+)*", heading)]
    rows = []
    for line in lines:
        row, begin = {}, 1
        for name, end in ends[:-1]:
            row[name] = line[begin:end].strip(" >")
            begin = end
        rows.append(row)
    return rows


def text_blocks(page, heading):
    """Of each line that matches HEADING the lines below, up to an empty one or one with fewer columns."""
    lines = page.splitlines()
    for at, line in enumerate(lines):
        if re.match(heading, line):
            end = at + 1
            while end < len(lines) and lines[end].strip() and not lines[end].startswith("  ..."):
                end += 1
            yield text_table(lines[at + 1:end], line)


def check_text(page, report, case):
    operations = [one for one in report["operations"] if not one["background"]]
    for rows in text_blocks(page, r" +time% +requests"):
        check_rows(rows, operations, OPERATION, case + ".txt: requests")
    for rows in text_blocks(page, r" +self% +self +calls +a call"):
        check_rows(rows, report["self_by_node"], NODE, case + ".txt: nodes")
    parts = re.split(r"(?m)^#(\d+)  ", page)[1:]
    by_rank = {pattern["rank"]: pattern for pattern in report["patterns"]}
    for rank, part in zip(parts[::2], parts[1::2]):
        for rows in list(text_blocks(part, r" +calls .*self% .*path$"))[:1]:
            check_rows(rows, by_rank[int(rank)]["nodes"], CALL, f"{case}.txt: pattern {rank}")
    if len(parts) // 2 != len([p for p in report["patterns"] if not p["background"]]):
        fail(case, "text has", len(parts) // 2, "patterns")


def markdown_tables(page):
    lines = page.splitlines()
    for at, line in enumerate(lines):
        if re.fullmatch(r"\|[-:| ]+\|", line):
            names = [cell.strip() for cell in lines[at - 1].strip("|").split("|")]
            end = at + 1
            while end < len(lines) and lines[end].startswith("|"):
                end += 1
            yield names, [dict(zip(names, (html.unescape(cell.strip()) for cell in row.strip("|").split("|")))) for row in lines[at + 1:end]]


def check_markdown(page, report, case):
    patterns = iter(report["patterns"])
    for names, rows in markdown_tables(page):
        if "requests" in names:
            meant = [one for one in report["operations"] if not one["background"]]
            check_rows(rows, meant[:len(rows)], OPERATION, case + ".md: requests")
        elif names[:2] == ["self", "sum"]:
            columns = {"self": NODE["self%"], "sum": NODE["self"], "calls": NODE["calls"], "errors": NODE["errors"]}
            check_rows(rows, report["self_by_node"][:len(rows)], columns, case + ".md: nodes")
        elif names[:2] == ["self", "self, mean"]:
            columns = {"self": CALL["self%"], "self, mean": CALL["self"], "mean": CALL["mean"], "p95": CALL["p95"]}
            check_rows(rows, next(patterns, {"nodes": []})["nodes"], columns, case + ".md: a pattern")


def check_csv(lines, report, case):
    meant = [(pattern, node) for pattern in report["patterns"] for node in pattern["nodes"]]
    rows = list(csv.DictReader(lines))
    if len(rows) != len(meant):
        return fail(case, "CSV has", len(rows), "rows, not", len(meant))
    columns = {
        "pattern": lambda p, n: p["rank"], "depth": lambda p, n: n["depth"], "count": lambda p, n: n["count"],
        "instances": lambda p, n: p["count"], "errors": lambda p, n: n["errors"], "total_share": lambda p, n: n["latency_share"],
        "self_share": lambda p, n: n["self_share"], "self_ns": lambda p, n: time_of(n["self"], "mean"),
        "self_total_ns": lambda p, n: time_of(n["self"], "sum"), "mean_ns": lambda p, n: time_of(n["latency"], "mean"),
        "p50_ns": lambda p, n: time_of(n["latency"], "p50"), "p95_ns": lambda p, n: time_of(n["latency"], "p95"),
        "max_ns": lambda p, n: time_of(n["latency"], "max"), "links_probability": lambda p, n: p["links_probability"],
    }
    for row, (pattern, node) in zip(rows, meant):
        if (row["node"], row["operation"]) != (node["node"], node["operation"]):
            fail(case, "CSV has", row["node"], row["operation"], "for", node["node"], node["operation"])
        for name, value in columns.items():
            expected = value(pattern, node)
            if row[name] != "" or expected:
                same(row[name], expected or 0, f"{case}.csv: {name}")


PATTERN = {
    "#": lambda one: one["rank"], "time%": lambda one: one["share"], "requests": lambda one: one["count"],
    "errors": lambda one: one["errors"], "total": lambda one: one["total_ns"], "calls": lambda one: len(one["nodes"]),
    "p95": lambda one: time_of(one["nodes"][0]["latency"], "p95"), "p99": lambda one: time_of(one["nodes"][0]["latency"], "p99"),
}


def html_tables(page):
    """Caption, and rows twice: as one reads them, and the exact values (data-v) by which the page sorts."""
    def plain(text):
        return html.unescape(re.sub("<[^>]*>", "", text)).strip()
    for table in re.findall(r"<table\b.*?</table>", page, re.S):
        head, _, body = table.partition("</thead>")
        names = [plain(one) for one in re.findall(r"<th scope=\"col\".*?</th>", head, re.S)]
        caption = re.search(r"<caption>(.*?)</caption>", head, re.S)
        shown, exact = [], []
        for line in re.findall(r"<tr\b.*?</tr>", body, re.S):
            cells = re.findall(r"<t[hd]\b.*?</t[hd]>", line, re.S)
            values = [re.search(r'^<td data-v="([^"]*)"', cell) for cell in cells]
            shown.append({name: plain(cell).lstrip("#") for name, cell in zip(names, cells)})
            exact.append({name: value.group(1) for name, value in zip(names, values) if value})
        yield plain(caption.group(1)) if caption else "", shown, exact


def check_html(page, report, case):
    wanted = {
        "Requests by their first call": ([one for one in report["operations"] if not one["background"]], OPERATION),
        "Self time by node": (report["self_by_node"], NODE),
        "Most time first": (report["patterns"], PATTERN),
    }
    for caption, shown, exact in html_tables(page):
        for begin in [one for one in wanted if caption.startswith(one)]:
            meant, columns = wanted.pop(begin)
            check_rows(shown, meant, columns, f"{case}.html: {begin}")
            check_rows(exact, meant, columns, f"{case}.html, exact: {begin}")
    if wanted:
        fail(case, "HTML has no table", list(wanted))


def main():
    folder, *cases = sys.argv[1:]
    for case in cases:
        def read(suffix):
            with open(f"{folder}/{case}.{suffix}", encoding="utf-8", newline="") as file:
                return file.read()
        report = json.loads(read("json"))
        before = compared
        check_text(read("txt"), report, case)
        check_markdown(read("md"), report, case)
        check_csv(read("csv").splitlines(), report, case)
        check_html(read("html"), report, case)
        if compared - before < 50:
            fail(case, "only", compared - before, "numbers were compared")
    print(f"{len(cases)} inputs, {compared:,} numbers: {f'{failed} FAILED' if failed else 'all the same'}")
    sys.exit(failed > 0)


main()
