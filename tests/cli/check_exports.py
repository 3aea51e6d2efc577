"""What `wirepath export` wrote, against the rules of each form. Used by run-exports.

    check_exports.py FOLDER CASE...

FOLDER/CASE.calls is `wirepath calls --format jsonl` of the same input, the truth here; FOLDER/CASE.FORM the exports.
"""
import collections
import json
import pathlib
import re
import sys

SPAN, TRACE = re.compile(r"[0-9a-f]{16}"), re.compile(r"[0-9a-f]{32}")


class Wrong(Exception):
    pass


def want(true, *what):
    if not true:
        raise Wrong(" ".join(map(str, what))[:300])


def strict(text):
    """JSON without doubled keys, NaN and infinities."""
    def pairs(items):
        want(len({k for k, _ in items}) == len(items), "a key stands twice", [k for k, _ in items])
        return dict(items)

    def constant(name):
        raise Wrong("a constant that JSON does not have: " + name)
    return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)


def members(value, needed, allowed=()):
    want(isinstance(value, dict), "no object:", value)
    want(set(needed) <= set(value), "lacks", set(needed) - set(value))
    want(set(value) <= set(needed) | set(allowed), "knows too much:", set(value) - set(needed) - set(allowed))


def is_id(text, form):
    want(isinstance(text, str) and form.fullmatch(text) and set(text) != {"0"}, "no id:", text)


# One span of any form: (id, trace, parent or None, begin ns, end ns, node, tags).
Span = collections.namedtuple("Span", "id trace parent begin end node name kind tags")


def otlp_tags(items):
    tags = {}
    for item in items:
        members(item, ["key", "value"])
        want(item["key"] not in tags, "attribute twice:", item["key"])
        want(len(item["value"]) == 1, "values:", item)
        kind, value = next(iter(item["value"].items()))
        types = {"stringValue": str, "intValue": str, "doubleValue": (int, float), "boolValue": bool}
        want(kind in types and isinstance(value, types[kind]), "value:", item)
        tags[item["key"]] = int(value) if kind == "intValue" else value
    return tags


def read_otlp(text):
    want(text.endswith("\n") or not text, "the last line has no end")
    for line in text.splitlines():
        request = strict(line)
        members(request, ["resourceSpans"])
        for resource in request["resourceSpans"]:
            members(resource, ["resource", "scopeSpans"])
            node = otlp_tags(resource["resource"]["attributes"])["service.name"]
            for scope in resource["scopeSpans"]:
                members(scope, ["scope", "spans"])
                for span in scope["spans"]:
                    members(span, ["traceId", "spanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano", "attributes", "status"],
                            ["parentSpanId", "links"])
                    is_id(span["traceId"], TRACE)
                    is_id(span["spanId"], SPAN)
                    want(span["kind"] in (2, 5) and type(span["kind"]) is int, "kind:", span["kind"])
                    want(span["name"], "no name")
                    for time in ("startTimeUnixNano", "endTimeUnixNano"):
                        want(isinstance(span[time], str) and span[time].isdigit(), "time:", span[time])
                    for link in span.get("links", []):
                        members(link, ["traceId", "spanId", "attributes"])
                        is_id(link["traceId"], TRACE)
                        is_id(link["spanId"], SPAN)
                    members(span["status"], [], ["code", "message"])
                    want(span["status"].get("code", 0) in (0, 1, 2), "status:", span["status"])
                    tags = otlp_tags(span["attributes"])
                    want(tags.get("error", False) == (span["status"].get("code") == 2), "error and status differ")
                    yield Span(span["spanId"], span["traceId"], span.get("parentSpanId"), int(span["startTimeUnixNano"]),
                               int(span["endTimeUnixNano"]), node, span["name"], span["kind"] == 5, tags)


def jaeger_tags(items):
    types = {"string": str, "int64": (int, str), "float64": (int, float), "bool": bool}
    for item in items:
        members(item, ["key", "type", "value"])
        want(isinstance(item["value"], types[item["type"]]), "tag:", item)
    want(len({i["key"] for i in items}) == len(items), "a tag twice")
    return {i["key"]: int(i["value"]) if i["type"] == "int64" else i["value"] for i in items}


def read_jaeger(text):
    page = strict(text)
    members(page, ["data", "total", "limit", "offset", "errors"])
    for trace in page["data"]:
        members(trace, ["traceID", "spans", "processes", "warnings"])
        is_id(trace["traceID"], TRACE)
        for span in trace["spans"]:
            members(span, ["traceID", "spanID", "operationName", "references", "startTime", "duration", "tags", "logs", "processID", "warnings"])
            is_id(span["spanID"], SPAN)
            want(span["traceID"] == trace["traceID"], "a span of another trace")
            want(type(span["startTime"]) is int and span["startTime"] > 0, "startTime:", span["startTime"])
            want(type(span["duration"]) is int and span["duration"] >= 0, "duration:", span["duration"])
            for reference in span["references"]:
                members(reference, ["refType", "traceID", "spanID"])
                is_id(reference["spanID"], SPAN)
            tags = jaeger_tags(span["tags"])
            kinds = [reference["refType"] for reference in span["references"]]
            n_parents = kinds.count("CHILD_OF")
            n_named = n_parents > 0 and not tags["wirepath.inferred"]
            want(n_parents - n_named <= 1 and kinds == sorted(kinds), "parents come first:", kinds)
            want(n_parents or not kinds, "no parent, but others:", kinds)
            sure = tags.get("wirepath.confidence", 1) >= 0.9 or n_parents == n_named
            want((span["warnings"] is None) == sure, "doubts are not said:", tags)
            parent = span["references"][0]["spanID"] if span["references"] else None
            node = trace["processes"][span["processID"]]["serviceName"]
            begin, end = tags["wirepath.begin.ns"], tags["wirepath.end.ns"]
            want(begin // 1000 == span["startTime"] and end // 1000 == span["startTime"] + span["duration"], "rounded:", span)
            kind = tags.pop("span.kind")
            want(kind in ("server", "consumer"), "kind:", kind)
            yield Span(span["spanID"], span["traceID"], parent, begin, end, node, span["operationName"], kind == "consumer", tags)


def read_zipkin(text):
    spans = strict(text)
    want(isinstance(spans, list), "no list")
    for span in spans:
        members(span, ["traceId", "id", "name", "kind", "timestamp", "localEndpoint", "remoteEndpoint", "tags"], ["parentId", "duration"])
        is_id(span["traceId"], TRACE)
        is_id(span["id"], SPAN)
        want(span["kind"] in ("SERVER", "CONSUMER"), "kind:", span["kind"])
        want(not re.search("[A-Z]", span["name"]), "a name in upper case")
        want(type(span["timestamp"]) is int and span["timestamp"] > 0, "timestamp")
        want(type(span.get("duration", 1)) is int and span.get("duration", 1) >= 1, "duration")
        for end in ("localEndpoint", "remoteEndpoint"):
            members(span[end], ["serviceName"], ["ipv4", "ipv6", "port"])
        want(all(isinstance(v, str) for v in span["tags"].values()), "tags are text")
        convert = {"true": True, "false": False}
        tags = {k: convert.get(v, v) for k, v in span["tags"].items()}
        want(tags["peer.service"] == span["remoteEndpoint"]["serviceName"], "caller")
        yield Span(span["id"], span["traceId"], span.get("parentId"), int(tags["wirepath.begin.ns"]), int(tags["wirepath.end.ns"]),
                   span["localEndpoint"]["serviceName"], span["name"], span["kind"] == "CONSUMER", tags)


def ns(text):
    seconds, rest = text.split(".")
    return int(seconds) * 10**9 + int(rest)


def check_spans(spans, calls):
    """Each call is a span, under the parent that `calls` names; where its program named another one, that stands aside."""
    spans = list(spans)
    by_id = {(s.trace, s.id): s for s in spans}
    want(len(by_id) == len(spans), "ids that come twice")
    rows = {c["call_id"]: c for c in calls}

    def of_span(span):
        return None if span is None else (span.begin, span.end, span.node, span.tags["peer.service"], span.tags.get("wirepath.operation"))

    def of_call(call):
        begin = ns(call["t_call"]) if call else 0
        return None if call is None else (begin, ns(call["t_return"]) if call["t_return"] else begin, call["dst"], call["src"], call["operation"])

    found, meant = collections.Counter(), collections.Counter()
    for span in spans:
        want(span.end >= span.begin, "ends before it begins:", span)
        cause = (span.trace, span.parent) if span.parent else None
        if cause and not span.tags["wirepath.inferred"]:
            want(cause not in by_id, "not marked as inferred:", span)
            cause = tuple(span.tags["wirepath.parent"].split("-")) if "wirepath.parent" in span.tags else None
        want(cause is None or cause in by_id, "the parent is not there:", span)
        want(span.parent or not span.tags["wirepath.inferred"], "marked as inferred:", span)
        found[of_span(span), of_span(by_id.get(cause))] += 1
    for call in calls:
        meant[of_call(call), of_call(rows.get(call["parent_id"]))] += 1
    want(found == meant, "other calls:", list((found - meant).items())[:1], list((meant - found).items())[:1])


def check_chrome(text, calls):
    page = strict(text)
    members(page, ["displayTimeUnit", "traceEvents", "otherData"])
    lanes, arrows, named, n = collections.defaultdict(list), collections.defaultdict(list), set(), 0
    for event in page["traceEvents"]:
        want(type(event["pid"]) is int and type(event["tid"]) is int, "pid, tid:", event)
        if event["ph"] == "M":
            want(event["name"] == "process_name" and event["pid"] not in named, "named twice")
            named.add(event["pid"])
            continue
        want(event["pid"] in named, "a process without a name")
        if event["ph"] == "X":
            n += 1
            want(event["dur"] >= 0, "dur")
            lanes[event["pid"], event["tid"]].append((round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000)))
        else:
            want(event["ph"] in "sf" and (event["ph"] == "s" or event["bp"] == "e"), "phase:", event)
            arrows[event["id"], event["cat"], event["name"]].append(event["ph"])
    for lane in lanes.values():
        lane.sort()
        for before, after in zip(lane, lane[1:]):
            want(before[1] <= after[0], "calls on one lane overlap:", before, after)
    want(all(sorted(ends) == ["f", "s"] for ends in arrows.values()), "an arrow with one end")
    want(n == len(calls) and len(arrows) == sum(c["parent_id"] is not None for c in calls), "events:", n, len(arrows), "calls:", len(calls))
    want(not calls or int(page["otherData"]["epoch_ns"]) > 0, "epoch")


def check_speedscope(text, _calls):
    page = strict(text)
    members(page, ["$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"])
    frames = page["shared"]["frames"]
    want(len({f["name"] for f in frames}) == len(frames), "a frame twice")
    sums = []
    for profile in page["profiles"]:
        members(profile, ["type", "name", "unit", "startValue", "endValue", "samples", "weights"])
        want(profile["type"] == "sampled" and profile["unit"] == "nanoseconds", "type")
        want(len(profile["samples"]) == len(profile["weights"]), "as many weights as samples")
        want(sum(profile["weights"]) == profile["endValue"] - profile["startValue"], "weights do not add up")
        want(all(0 <= f < len(frames) for s in profile["samples"] for f in s), "no such frame")
        want(all(profile["samples"]), "an empty stack")
        sums.append(profile["endValue"])
    want(sums[0] == sum(sums[1:]), "parts do not add up to all", sums[0], sum(sums[1:]))
    return sums[0]


def check_folded(text, _calls):
    """As flamegraph.pl reads it: a frame that ends in a number would make the line differential."""
    total, before = 0, None
    for line in text.splitlines():
        match = re.fullmatch(r"(.*\S) ([1-9]\d*)", line)
        want(match, "no stack and weight:", line)
        want(not re.search(r"\s\d+(\.\d*)?$", match[1]), "looks differential:", line)
        frames = match[1].split(";")
        want(all(frames) and all(": " in f for f in frames), "frames:", line)
        want(before is None or before != frames, "a stack twice:", line)
        want(not re.search(r"[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]", line), "control characters:", line)
        before = frames
        total += int(match[2])
    want(text.endswith("\n") or not text, "the last line has no end")
    return total


NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"')
VALUE = re.compile(r"-?\d+(\.\d+)?")


def read_labels(text):
    labels, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        want(match and match[1] not in labels, "labels:", text)
        labels[match[1]] = match[2]
        at = match.end()
        if at < len(text):
            want(text[at] == "," and at + 1 < len(text), "labels:", text)
            at += 1
    return labels


def read_prometheus(text):
    """Text format 0.0.4, strictly: HELP and TYPE once and first, families together, no series twice."""
    want(text.endswith("\n"), "the last line has no end")
    types, helps, current, seen, samples = {}, set(), None, set(), []
    for line in text[:-1].split("\n"):
        head = re.fullmatch(r"# (HELP|TYPE) (\S+) (.+)", line)
        if head:
            want(NAME.fullmatch(head[2]), "name:", line)
            if head[1] == "HELP":
                want(head[2] not in helps, "HELP twice:", line)
                helps.add(head[2])
            else:
                want(head[2] in helps and head[2] not in types and head[3] in ("counter", "gauge", "histogram"), "TYPE:", line)
                types[head[2]] = head[3]
                current = head[2]
            continue
        match = re.fullmatch(r"([^{ ]+)(?:\{(.*)\})? (\S+)", line)
        want(match and NAME.fullmatch(match[1]) and VALUE.fullmatch(match[3]), "no sample:", line)
        labels = read_labels(match[2] or "")
        family = re.sub("_(bucket|sum|count)$", "", match[1]) if types.get(current) == "histogram" else match[1]
        want(family == current, "a sample outside its family:", line)
        want(types[family] != "counter" or family.endswith("_total"), "a counter's name:", family)
        series = (match[1], tuple(sorted(labels.items())))
        want(series not in seen, "a series twice:", line)
        seen.add(series)
        samples.append((match[1], labels, float(match[3])))
    return samples


def check_histograms(samples):
    buckets, counts, last = collections.defaultdict(list), {}, {}
    for name, labels, value in samples:
        key = tuple(sorted((k, v) for k, v in labels.items() if k != "le"))
        if name.endswith("_bucket"):
            buckets[key].append((float(labels["le"]), value))
        elif name.endswith("_seconds_count"):
            counts[key] = value
    for key, rows in buckets.items():
        want(rows == sorted(rows), "buckets are not in order:", key)
        want(all(a[1] <= b[1] for a, b in zip(rows, rows[1:])), "buckets are not cumulative:", key)
        want(rows[-1][0] == float("inf") and rows[-1][1] == counts[key], "no bucket +Inf that is the count:", key)
    want(set(buckets) == set(counts) and not last, "histograms without a count")


def check_prometheus(text, calls):
    samples = read_prometheus(text)
    check_histograms(samples)
    total = collections.Counter()
    for name, _, value in samples:
        total[name] += value
    want(total["wirepath_calls_total"] + total["wirepath_messages_total"] == len(calls), "calls:", total)
    want(total["wirepath_requests_total"] == sum(c["parent_id"] is None for c in calls), "requests:", total)
    want(total["wirepath_errors_total"] == sum(c["status"] in ("error", "reset", "timeout") for c in calls), "errors:", total)
    return total["wirepath_node_self_seconds_total"]


CHECKS = {
    "otlp": lambda text, calls: check_spans(read_otlp(text), calls),
    "jaeger": lambda text, calls: check_spans(read_jaeger(text), calls),
    "zipkin": lambda text, calls: check_spans(read_zipkin(text), calls),
    "chrome": check_chrome,
    "speedscope": check_speedscope,
    "folded": check_folded,
    "prometheus": check_prometheus,
}

# A check that lets anything pass is none: each of these must be found wrong.
DAMAGE = {
    "otlp": [('"kind":2', '"kind":"SERVER"'), ('"parentSpanId":"', '"parentSpanId":"0'), ('"startTimeUnixNano":"', '"startTimeUnixNano":"9')],
    "jaeger": [('"CHILD_OF"', '"FOLLOWS_FROM"'), ('"duration":', '"duration":1'), ('"processID":"p1"', '"processID":"p99"')],
    "zipkin": [('"kind":"SERVER"', '"kind":2'), ('"parentId":"', '"parentId":"1'), ("}}\n]", "}}\n,]")],
    "chrome": [('"ph":"f"', '"ph":"s"'), ('"dur":', '"dur":9'), ('"ph":"M"', '"ph":"I"')],
    "speedscope": [('"weights":[', '"weights":[1,'), ('"samples":[[', '"samples":[[99999,'), ('"endValue":', '"endValue":1')],
    "folded": [(": ", " 17 ", ), (" ", ";"), ("\n", " 5\n")],
    "prometheus": [('le="+Inf"', 'le="60"'), ("# TYPE wirepath_calls_total", "# TYPE wirepath_calls"), ('",operation="', '" ,operation="')],
}


def main(folder, cases):
    failed = False
    for case in cases:
        calls = [json.loads(line) for line in (folder / f"{case}.calls").read_text().splitlines()]
        sums = {}
        for form, check in CHECKS.items():
            text = (folder / f"{case}.{form}").read_text()
            try:
                sums[form] = check(text, calls)
            except (Wrong, KeyError, ValueError, TypeError) as error:
                print(f"FAIL: {case}.{form}: {error!r}")
                failed = True
            for before, after in DAMAGE[form] if case == "shop" else []:
                want(before in text, "there is nothing to damage:", form, before)
                try:
                    check(text.replace(before, after, 1), calls)
                    print(f"FAIL: {case}.{form}: {before} as {after} was not found wrong")
                    failed = True
                except (Wrong, KeyError, ValueError, TypeError):
                    pass
        if not failed:
            us, whole, seconds = sums["folded"], sums["speedscope"], sums["prometheus"]
            if abs(us * 1000 - whole) > 500 * (1 + len(calls)) or abs(whole - seconds * 1e9) > 1000:
                print(f"FAIL: {case}: self times differ: {us} us folded, {whole} ns in speedscope, {seconds} s in prometheus")
                failed = True
    print(f"{len(cases)} inputs, {len(CHECKS)} forms each: {'FAILED' if failed else 'all as they should be'}")
    return failed


sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2:]))
