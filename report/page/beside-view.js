/*
 * A second result beside this page, shown: what is in both with two bars a row, before pale, after solid; trees, how
 * latencies are spread, what only one side has. It says what differs and never whether that is more than chance: this is
 * what wirepath compare is for, which needs more than two columns of numbers. Of each request the first layer is a row;
 * what is behind it is made when it is opened.
 */

	var second = null;      /* { name, result, own, isSwapped }: as read from the file and from this page; null = none */
	var besideInput = null; /* the file field; null where the page holds no numbers */
	var besideNote, besideRows = 200, besidePatterns = 50, besideTrees = 20, besideCalls = 400; /* shown at most */

	/* --- words and numbers --- */

	/* As pages show names: what cannot be seen, or changes how its neighbours look, is written out. */
	function visible(text, width) {
		var safe = text.slice(0, 5000).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Cn}]/gu, function (mark) {
			var code = mark.codePointAt(0), digits = code.toString(16);
			return code < 128 ? "\\x" + (code < 16 ? "0" : "") + digits : "\\u{" + digits + "}";
		}), letters = Array.from(safe);
		return letters.length > width ? letters.slice(0, width - 2).join("") + ".." : safe;
	}
	/* Three digits, as the page has them: "9.99", "10.0", "123". */
	function threeDigits(value) {
		var size = Math.abs(value);
		return value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
	}
	var timeUnits = [[1, " ns", 999.5], [1e3, " us", 999.5], [1e6, " ms", 999.5], [1e9, " s", 999.5], [60e9, " min", 599.5], [3600e9, " h", 999.5],
		[86400e9, " d", Infinity]];
	function timeText(ns) {
		for (var i = 0; Math.abs(ns) / timeUnits[i][0] >= timeUnits[i][2]; i++);
		var unit = timeUnits[i];
		return ns === 0 ? "0" : (unit[0] === 1 && ns === Math.floor(ns) ? String(ns) : threeDigits(ns / unit[0])) + unit[1];
	}
	/* Calls a request. */
	function callsText(calls) {
		return calls > 0 && calls < .005 ? "\u003c0.01" : threeDigits(calls);
	}
	function countText(count) {
		return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
	}
	function shareText(share) {
		var percent = 100 * share;
		return percent > 0 && percent < .05 ? "\u003c0.1%" : percent > 99.95 && percent < 100 ? "99.9%"
			: percent.toFixed(percent === 0 || percent >= 99.95 ? 0 : 1) + "%";
	}
	/* "+12.0%", "x3.1", "-40.0%"; "" where there is nothing to compare with. */
	function changeText(before, after) {
		if (!(before > 0) || !(after >= 0))
			return "";
		var change = after / before - 1, percent = (100 * Math.abs(change)).toFixed(Math.abs(change) < 1 ? 1 : 0);
		if (change >= 9)
			return "x" + threeDigits(after / before);
		return +percent === 0 ? "0%" : (change < 0 ? "-" : "+") + percent + "%";
	}

	/* --- tables --- */

	function addText(row, text) {
		row.appendChild(make("td", {}, text));
	}
	/* VALUE as TEXT(value); an empty cell where there is none. */
	function addValue(row, value, text) {
		row.appendChild(typeof value === "number" && isFinite(value) ? make("td", { "data-v": value }, text(value)) : make("td", {}));
	}
	/* Both sides; OF(side) is a number or undefined. */
	function addBoth(row, sides, of, text) {
		sides.forEach(function (side) { addValue(row, side ? of(side) : undefined, text); });
	}
	function addSigned(row, value, text) {
		addValue(row, value, function () { return value === 0 ? "0" : (value > 0 ? "+" : "") + text(value); });
	}
	/* In words where one side has none of it. */
	function addChange(row, before, after, isBefore, isAfter) {
		if (isBefore && isAfter && before > 0 && after >= 0)
			addValue(row, after / before - 1, function () { return changeText(before, after); });
		else
			addText(row, !isBefore ? "only after" : !isAfter ? "only before" : "");
	}
	/* Before above after, of MOST; what they say stands in the cells beside. */
	function addBars(row, values, most) {
		var drawing = svg("svg", { "aria-hidden": "true", width: 140, height: 16 });
		values.forEach(function (value, side) {
			if (value > 0 && most > 0)
				drawing.appendChild(svg("rect", { "class": side ? "after" : "before", fill: side ? "#7a3b00" : "#56b4e9", x: 0, y: 8 * side,
					width: Math.max(140 * value / most, 1), height: 7 }));
		});
		row.appendChild(make("td", {})).appendChild(drawing);
	}
	function addName(row, name, who) {
		var head = make("th", { scope: "row" });
		head.appendChild(make("b", {}, name));
		if (who) {
			head.appendChild(make("span", { "class": "who" }, " " + who));
			head.title = name + " " + who;
		}
		return row.appendChild(head);
	}
	/* A table in BOX; SORT is its name in the address, or undefined. FILL(body) makes the rows. */
	function addTable(box, caption, headings, fill, sort) {
		var wide = make("div", { "class": "wide", tabindex: "0" }), table = make("table", {}), head = make("tr", {}), body = make("tbody", {});
		headings.forEach(function (name) { head.appendChild(make("th", { scope: "col" }, name)); });
		table.appendChild(make("caption", {}, caption));
		table.appendChild(make("thead", {})).appendChild(head);
		fill(body);
		if (body.rows.length && body.rows[0].lastChild.textContent && !body.rows[0].lastChild.hasAttribute("data-v"))
			head.lastChild.className = "words";
		table.appendChild(body);
		wide.appendChild(table);
		box.appendChild(wide);
		if (sort) {
			table.className = "sortable";
			makeSortable(table, sort);
		}
	}
	function addMore(box, all, shown) {
		if (all > shown)
			box.appendChild(make("p", {}, "... and " + countText(all - shown) + " more."));
	}
	function most(rows, of) {
		return rows.reduce(function (most, row) {
			return row.sides.reduce(function (most, side) { return side ? Math.max(most, of(side) || 0) : most; }, most);
		}, 0);
	}
	/* The line of a tree before a name, from depths alone. */
	function branchText(rows, index) {
		var text = "", depth = rows[index].depth;
		for (var level = Math.max(1, depth - 30); level <= depth; level++) {
			for (var i = index + 1; i < rows.length && rows[i].depth > level; i++);
			var goesOn = i < rows.length && rows[i].depth === level;
			text += level === depth ? (goesOn ? "\u251c\u2500 " : "\u2514\u2500 ") : goesOn ? "\u2502  " : "   ";
		}
		return text;
	}
	function addCall(row, rows, index) {
		var own = rows[index], head = addName(row, visible(own.node, 40) + (own.repeat > 1 ? " \u00d7" + own.repeat : ""), visible(own.operation, 80));
		head.insertBefore(make("span", { "class": "br", "aria-hidden": "true" }, branchText(rows, index)), head.firstChild);
		if (own.waits)
			head.appendChild(make("em", {}, " waits by design"));
	}

	/* --- one request --- */

	function addTree(box, before, after) {
		var rows = mergeTrees(before ? before.places : [], after ? after.places : []), self = function (place) { return place.self; };
		var greatest = most(rows, self);
		if (!rows.length) {
			box.appendChild(make("p", {}, "Its calls are not among the data of either side."));
			return;
		}
		var shown = rows.slice(0, besideCalls);
		addTable(box, "All its patterns as one tree, as expected: calls and self time a request", ["call", "calls before", "after", "self before", "after", "bars", "change",
			"mean latency before", "after"], function (body) {
			shown.forEach(function (own, index) {
				var row = make("tr", {}), sides = own.sides;
				addCall(row, shown, index);
				addBoth(row, sides, function (place) { return place.calls; }, callsText);
				addBoth(row, sides, self, timeText);
				addBars(row, sides.map(function (place) { return place ? place.self : 0; }), greatest);
				addChange(row, sides[0] && sides[0].self, sides[1] && sides[1].self, sides[0], sides[1]);
				/* One-way messages have none. */
				addBoth(row, sides, function (place) { return place.latency || undefined; }, timeText);
				body.appendChild(row);
			});
		});
		addMore(box, rows.length, shown.length);
	}
	function addQuantiles(box, before, after) {
		addTable(box, "Latency of the requests, as measured", ["latency", "before", "after", "difference", "change"], function (body) {
			["mean", "p50", "p90", "p95", "p99", "max"].forEach(function (name) {
				var row = make("tr", {}), b = before && before.latency, a = after && after.latency;
				addName(row, name);
				addBoth(row, [b, a], function (times) { return times[name]; }, timeText);
				addSigned(row, b && a ? a[name] - b[name] : NaN, timeText);
				addChange(row, b && b[name], a && a[name], b, a);
				body.appendChild(row);
			});
		});
	}
	/* Shares of the requests that took at most so long, on a logarithmic scale; both sides where both are known. */
	function addCurves(box, sides) {
		var low = Infinity, high = 0, left = 44, width = 640, height = 150, top = 8, names = ["before", "after"];
		sides.forEach(function (side) {
			(side && side.bins || []).forEach(function (bin) {
				low = Math.min(low, Math.max(bin[0], 1));
				high = Math.max(high, bin[1]);
			});
		});
		var missing = names.filter(function (name, i) { return sides[i] && !sides[i].bins; });
		if (missing.length)
			box.appendChild(make("p", {}, "How the latencies are spread is not among the data of the side " + missing.join(" and ") + "."));
		if (!(high > low))
			return;
		function x(ns) {
			return left + width * Math.log(Math.min(Math.max(ns, low), high) / low) / Math.log(high / low);
		}
		function y(share) {
			return top + (1 - share) * height;
		}
		var drawing = svg("svg", { "class": "curve", role: "img", width: left + width + 10, height: top + height + 34,
			viewBox: "0 0 " + (left + width + 10) + " " + (top + height + 34),
			"font-size": 11, "font-family": "sans-serif", fill: "currentColor" });
		function text(at, line, anchor, words) {
			drawing.appendChild(svg("text", { x: at, y: line, "text-anchor": anchor })).textContent = words;
		}
		drawing.appendChild(svg("title", {})).textContent = "Share of the requests that took at most so long: before dashed, after solid; the table has the quantiles";
		[[0, "0"], [.5, "50%"], [.95, "95%"], [1, ""]].forEach(function (level) {
			drawing.appendChild(svg("line", { stroke: "#888", "stroke-opacity": .5, x1: left, x2: left + width, y1: y(level[0]), y2: y(level[0]) }));
			text(left - 4, y(level[0]) + 4, "end", level[1]);
		});
		for (var i = 0; i <= 4; i++)
			text(x(low * Math.pow(high / low, i / 4)), top + height + 14, i === 0 ? "start" : i === 4 ? "end" : "middle", timeText(low * Math.pow(high / low, i / 4)));
		sides.forEach(function (side, i) {
			var look = { "class": "line " + names[i], fill: "none", stroke: i ? "#7a3b00" : "#2f8fca", "stroke-width": 2 }, seen = 0, points = [], at = left + i * width / 2;
			if (!side || !side.bins)
				return;
			var all = side.bins.reduce(function (sum, bin) { return sum + bin[2]; }, 0);
			if (!i)
				look["stroke-dasharray"] = "6 3";
			side.bins.forEach(function (bin) {
				points.push(x(bin[0]).toFixed(1) + "," + y(seen / all).toFixed(1));
				seen += bin[2];
				points.push(x(bin[1]).toFixed(1) + "," + y(seen / all).toFixed(1));
			});
			drawing.appendChild(svg("polyline", Object.assign({ points: points.join(" ") }, look)));
			drawing.appendChild(svg("line", Object.assign({ x1: at, x2: at + 30, y1: top + height + 26, y2: top + height + 26 }, look)));
			text(at + 36, top + height + 30, "start", names[i]);
		});
		box.appendChild(make("h4", {}, "Latency: share of the requests that took at most so long"));
		box.appendChild(make("div", { "class": "wide", tabindex: "0" })).appendChild(drawing);
	}

	/* --- patterns --- */

	function rankText(pattern) {
		return "#" + pattern.rank;
	}
	function ranks(sides) {
		return sides.map(function (one) { return one ? rankText(one) : "-"; }).join(" / ");
	}
	/* "web > auth, db x2": the calls below one another, shortly. */
	function pathText(nodes) {
		var text = "", depth = 0;
		nodes.slice(0, 60).forEach(function (node, i) {
			var name = visible(node.node, 30) + (node.repeat > 1 ? " \u00d7" + node.repeat : "");
			for (; depth > node.depth; depth--)
				text += ")";
			text += !i ? name : node.depth > depth ? " \u2192 (" + name : ", " + name;
			depth = node.depth;
		});
		for (; depth > 0; depth--)
			text += ")";
		return nodes.length > 60 ? text + " .." : text;
	}
	function meanOf(times) {
		return times ? times.mean : undefined;
	}
	function addPatternTree(box, sides) {
		var nodes = (sides[0] || sides[1]).nodes, rows = nodes.map(function (node, i) {
			return { node: node.node, operation: node.operation || node.protocol, repeat: node.repeat, depth: node.depth,
				sides: sides.map(function (one) { return one ? one.nodes[i] : null; }) };
		}), self = function (node) { return meanOf(node.self); }, greatest = most(rows, self), shown = rows.slice(0, besideCalls);
		addTable(box, "Calls of pattern " + ranks(sides) + " (before / after)", [
			"call", "calls before", "after", "self before", "after", "bars", "change", "self p95 before", "after",
			"mean before", "after", "p50 before", "after", "p95 before", "after"], function (body) {
			shown.forEach(function (own, index) {
				var row = make("tr", {}), pair = own.sides, both = pair.map(function (node) { return node ? self(node) : undefined; });
				addCall(row, shown, index);
				addBoth(row, pair, function (node) { return node.count; }, countText);
				addBoth(row, pair, self, timeText);
				addBars(row, both, greatest);
				addChange(row, both[0], both[1], pair[0], pair[1]);
				addBoth(row, pair, function (node) { return node.self ? node.self.p95 : undefined; }, timeText);
				["mean", "p50", "p95"].forEach(function (name) {
					addBoth(row, pair, function (node) { return node.latency ? node.latency[name] : undefined; }, timeText);
				});
				body.appendChild(row);
			});
		});
		addMore(box, rows.length, shown.length);
	}
	/* Of one operation; shares are of its requests. */
	function addPatterns(box, list, sides) {
		var shown = list.slice(0, besidePatterns), latency = function (name) {
			return function (one) { return one.nodes[0].latency ? one.nodes[0].latency[name] : undefined; };
		}, all = shown.map(function (pair) { return { sides: [pair.before, pair.after] }; }), greatest = most(all, latency("mean"));
		if (!list.length)
			return;
		addTable(box, "Its patterns: share of its requests, and their latency", [
			"pattern before / after, path", "share before", "after", "mean before", "after", "bars", "change", "p50 before", "after",
			"p95 before", "after"], function (body) {
			all.forEach(function (one) {
				var row = make("tr", {}), pair = one.sides;
				addName(row, ranks(pair), pathText((pair[0] || pair[1]).nodes));
				pair.forEach(function (own, i) { addValue(row, own && sides[i].count ? own.count / sides[i].count : undefined, shareText); });
				addBoth(row, pair, latency("mean"), timeText);
				addBars(row, pair.map(function (own) { return own ? latency("mean")(own) : 0; }), greatest);
				addChange(row, pair[0] && latency("mean")(pair[0]), pair[1] && latency("mean")(pair[1]), pair[0], pair[1]);
				addBoth(row, pair, latency("p50"), timeText);
				addBoth(row, pair, latency("p95"), timeText);
				body.appendChild(row);
			});
		});
		addMore(box, list.length, shown.length);
		sides.forEach(function (side, i) {
			if (side && side.uncertain)
				box.appendChild(make("p", {}, "Of the requests " + (i ? "after" : "before") + ", " + countText(side.uncertain) + " of " + countText(side.count) +
					" took paths that are not sure: they are in none of these patterns."));
		});
		shown.slice(0, besideTrees).forEach(function (pair) {
			var one = pair.before || pair.after, details = make("details", { "class": "request" });
			details.appendChild(make("summary", {}, "Pattern " + ranks([pair.before, pair.after]) + ": " + pathText(one.nodes)));
			makeLazy(details, function () { addPatternTree(details, [pair.before, pair.after]); });
			box.appendChild(details);
		});
	}

	/* --- what can be opened: made when it is --- */

	function makeLazy(details, fill) {
		details.fill = function () {
			if (!fill)
				return;
			fill();
			fill = null;
			nameRegions();
		};
		details.addEventListener("toggle", function () {
			if (details.open)
				details.fill();
		});
	}
	function operationName(operation) {
		return visible(operation.operation || operation.protocol, 80);
	}
	function operationWho(operation) {
		return visible(operation.client, 48) + " \u2192 " + visible(operation.node, 48);
	}
	/* Stays when sides are swapped: by its place on this page, or where it is only in the file, in that. */
	function idOf(pair) {
		return (pair.before && pair.before.id.charAt(2) !== "s" ? pair.before : pair.after || pair.before).id;
	}
	function sumText(pair) {
		var before = pair.before && meanOf(pair.before.latency), after = pair.after && meanOf(pair.after.latency);
		if (!pair.before || !pair.after)
			return pair.before ? "only before" : "only after";
		return before === undefined || after === undefined ? ""
			: "mean " + timeText(before) + ", then " + timeText(after) + " (" + changeText(before, after) + ")";
	}
	function addOperation(section, pair, number, patterns) {
		var one = pair.before || pair.after, id = idOf(pair), details = make("details", { "class": "pair", id: id });
		var summary = make("summary", {}), title = make("h4", {}, "#" + number + " ");
		title.appendChild(make("b", {}, operationName(one)));
		title.appendChild(make("span", { "class": "who" }, " " + operationWho(one)));
		summary.appendChild(title);
		summary.appendChild(make("span", { "class": "sum" }, sumText(pair)));
		details.appendChild(summary);
		makeLazy(details, function () {
			addTree(details, pair.before, pair.after);
			addCurves(details, [pair.before, pair.after]);
			addQuantiles(details, pair.before, pair.after);
			addPatterns(details, patterns.filter(function (two) {
				return (two.before || two.after).operation.key === one.key;
			}), [pair.before, pair.after]);
		});
		details.addEventListener("toggle", function () {
			if (!details.open && state.e !== id)
				return;
			state.e = details.open ? id : "";
			save();
		});
		section.appendChild(details);
	}

	/* --- the parts of the section --- */

	/* What the change of the mean costs the requests after; of what one side lacks there is none. */
	function costOf(pair) {
		return pair.before && pair.after && pair.before.latency && pair.after.latency
			? (pair.after.latency.mean - pair.before.latency.mean) * pair.after.count : NaN;
	}
	/* What one side lacks first, then by what it costs; what waits by design last. */
	function rankPairs(list) {
		function group(pair) {
			return (pair.before || pair.after).isBackground ? 2 : pair.before && pair.after ? 1 : 0;
		}
		function size(pair) {
			return Math.abs(costOf(pair)) || (pair.before && pair.after ? 0 : (pair.before || pair.after).total);
		}
		return list.sort(function (a, b) { return group(a) - group(b) || size(b) - size(a); });
	}
	function addOperations(section, list, sides) {
		var shown = list.slice(0, besideRows), greatest = most(shown.filter(function (pair) { return !(pair.before || pair.after).isBackground; }).map(function (pair) {
			return { sides: [pair.before, pair.after] };
		}), function (one) { return meanOf(one.latency); });
		section.appendChild(make("h3", {}, "Requests"));
		addTable(section, "Requests by their first call, latencies; in all: change of the mean times the requests after, most first", [
			"request", "requests before", "after", "share before", "after",
			"mean before", "after", "bars", "change", "in all", "p50 before", "after", "p95 before", "after", "errors before", "after"], function (body) {
			shown.forEach(function (pair, index) {
				var row = make("tr", {}), both = [pair.before, pair.after], one = pair.before || pair.after;
				var head = addName(row, operationName(one), operationWho(one)), link = make("a", { href: "#" + idOf(pair) }, "#" + (index + 1));
				var means = both.map(function (side) { return side ? meanOf(side.latency) : undefined; });
				head.insertBefore(document.createTextNode(" "), head.firstChild);
				head.insertBefore(link, head.firstChild);
				link.addEventListener("click", function (event) {
					event.preventDefault();
					openPair(idOf(pair));
				});
				if (one.isBackground)
					head.appendChild(make("em", {}, " waits by design"));
				addBoth(row, both, function (side) { return side.count; }, countText);
				both.forEach(function (side, i) { addValue(row, side && sides[i].requests ? side.count / sides[i].requests : undefined, shareText); });
				means.forEach(function (mean) { addValue(row, mean, timeText); });
				addBars(row, one.isBackground ? [0, 0] : means, greatest);
				addChange(row, means[0], means[1], pair.before, pair.after);
				addSigned(row, costOf(pair), timeText);
				["p50", "p95"].forEach(function (name) {
					addBoth(row, both, function (side) { return side.latency ? side.latency[name] : undefined; }, timeText);
				});
				addBoth(row, both, function (side) { return side.count ? side.errors / side.count : undefined; }, shareText);
				body.appendChild(row);
			});
		}, "b0");
		addMore(section, list.length, shown.length);
		return shown;
	}
	/* Patterns that one side lacks, and calls that it makes nowhere in a request that both have. */
	function addStructure(section, patterns, operations, sides) {
		var alone = patterns.filter(function (pair) { return !pair.before || !pair.after; }), calls = [];
		function shareOf(pair) {
			return pair.before ? pair.before.count / (sides[0].requests || 1) : pair.after.count / (sides[1].requests || 1);
		}
		alone.sort(function (a, b) { return shareOf(b) - shareOf(a); });
		operations.forEach(function (pair) {
			if (pair.before && pair.after && pair.before.places.length && pair.after.places.length)
				mergeTrees(pair.before.places, pair.after.places).forEach(function (row) {
					if (!row.sides[0] || !row.sides[1])
						calls.push({ pair: pair, row: row });
				});
		});
		calls.sort(function (a, b) { return (b.row.sides[0] || b.row.sides[1]).calls - (a.row.sides[0] || a.row.sides[1]).calls; });
		section.appendChild(make("h3", {}, "Structure: what only one side has"));
		if (!alone.length && !calls.length) {
			section.appendChild(make("p", {}, "Both have the same patterns, and the same calls in them."));
			return;
		}
		section.appendChild(make("p", {}, "Rare ones may well be on one side by chance, or by a wrong link." +
			(sides.some(isCut) ? " What is only on one side may be beyond what the other side's data hold." : "") +
			(sides.some(isUnsure) ? " A path that is not sure is in no pattern of its side." : "")));
		if (calls.length)
			addTable(section, "Calls that one side makes nowhere in requests of this kind: calls a request", [
				"call", "only", "calls a request", "self a request", "in"], function (body) {
				calls.slice(0, besidePatterns).forEach(function (one) {
					var row = make("tr", {}), place = one.row.sides[0] || one.row.sides[1];
					addName(row, visible(one.row.node, 40), visible(one.row.operation, 80));
					addText(row, one.row.sides[0] ? "before" : "after");
					addValue(row, place.calls, callsText);
					addValue(row, place.self, timeText);
					addText(row, operationName(one.pair.before) + "  " + operationWho(one.pair.before));
					body.appendChild(row);
				});
			}, "b1");
		addMore(section, calls.length, besidePatterns);
		if (alone.length)
			addTable(section, "Patterns on one side only: share of all its requests", ["path", "only", "requests", "share", "mean", "p95", "in"], function (body) {
				alone.slice(0, besidePatterns).forEach(function (pair) {
					var row = make("tr", {}), one = pair.before || pair.after, root = one.nodes[0];
					addName(row, rankText(one), pathText(one.nodes));
					addText(row, pair.before ? "before" : "after");
					addValue(row, one.count, countText);
					addValue(row, shareOf(pair), shareText);
					addValue(row, meanOf(root.latency), timeText);
					addValue(row, root.latency ? root.latency.p95 : undefined, timeText);
					addText(row, operationName(one.operation) + "  " + operationWho(one.operation));
					body.appendChild(row);
				});
			}, "b2");
		addMore(section, alone.length, besidePatterns);
	}
	function addNodes(section, sides) {
		var list = pairs(sides[0].nodes, sides[1].nodes).slice(0, besideRows), call = function (node) { return node.count ? node.self / node.count : undefined; };
		var greatest = most(list.map(function (pair) { return { sides: [pair.before, pair.after] }; }), call), sums = sides.map(function (side) {
			return side.nodes.reduce(function (sum, node) { return sum + node.self; }, 0);
		});
		section.appendChild(make("h3", {}, "Nodes"));
		addTable(section, "Self time by node, a call, in all requests; share of all self time", [
			"node", "calls before", "after", "a call before", "after", "bars", "change", "share before", "after",
			"errors before", "after"], function (body) {
			list.forEach(function (pair) {
				var row = make("tr", {}), both = [pair.before, pair.after], each = both.map(function (node) { return node ? call(node) : undefined; });
				addName(row, visible((pair.before || pair.after).name, 48));
				addBoth(row, both, function (node) { return node.count; }, countText);
				each.forEach(function (value) { addValue(row, value, timeText); });
				addBars(row, each, greatest);
				addChange(row, each[0], each[1], pair.before, pair.after);
				both.forEach(function (node, i) { addValue(row, node && sums[i] ? node.self / sums[i] : undefined, shareText); });
				addBoth(row, both, function (node) { return node.errors; }, countText);
				body.appendChild(row);
			});
		}, "b3");
	}

	/* --- whether the two can stand side by side, as far as that is plain to see --- */

	function isCut(side) {
		return side.operations.length < side.operationsInAll || side.patterns.length < side.patternsInAll;
	}
	function isUnsure(side) {
		return side.operations.some(function (one) { return one.uncertain > 0; });
	}
	function lacksTree(side) {
		return side.operations.some(function (one) { return !one.places.length; });
	}
	function rateOf(side) {
		return side.end > side.begin ? side.requests / ((side.end - side.begin) / 1e9) : NaN;
	}
	/* Share of the requests of SIDE whose operation the other has, too. */
	function sharedOf(list, side, name) {
		return list.reduce(function (sum, pair) {
			return sum + (pair.before && pair.after && !pair[name].isBackground ? pair[name].count : 0);
		}, 0) / (side.requests || 1);
	}
	function doubts(list, sides) {
		var words = [], names = ["before", "after"], shared = [sharedOf(list, sides[0], "before"), sharedOf(list, sides[1], "after")], rates = sides.map(rateOf);
		if (["begin", "end", "requests", "calls", "total"].every(function (name) { return sides[0][name] === sides[1][name]; }) && sides[0].begin)
			words.push("Both are the same result.");
		if (Math.min(shared[0], shared[1]) < .9)
			words.push("Only " + shareText(shared[0]) + " of the requests before and " + shareText(shared[1]) + " of those after have the same name " +
				"(client, node, operation) on both sides. " +
				"Here equal names are one, and nothing else; wirepath compare finds out which node is which by what it serves, and names operations of both sides alike.");
		[["root", "seen from"], ["hidden", "without calls into"], ["where", "only requests with a call where"]].forEach(function (one) {
			if (sides[0][one[0]] !== sides[1][one[0]])
				words.push("They were made with other options, and may be of other requests: " + sides.map(function (side, i) {
					return names[i] + " " + (side[one[0]] ? one[1] + " " + visible(side[one[0]], 100) : "not");
				}).join(", ") + ".");
		});
		if (sides[0].engine !== sides[1].engine)
			words.push("Paths were inferred in other ways: " + sides.map(function (side) { return visible(side.engine, 20); }).join(", then ") + ".");
		sides.forEach(function (side, i) {
			if (side.partial)
				words.push("Not all was read " + names[i] + ": " + visible(side.partial, 200) + ".");
			if (side.trust === "low" || side.trust === "stopped")
				words.push("Paths " + names[i] + " are not to be relied on: its own page says why.");
			if (isCut(side))
				words.push("The data " + names[i] + " hold " + countText(side.operations.length) + " of " + countText(side.operationsInAll) + " operations and " +
					countText(side.patterns.length) + " of " + countText(side.patternsInAll) + " patterns; the JSON form holds all.");
			if (lacksTree(side))
				words.push("The data " + names[i] + " lack the calls of some requests.");
		});
		if (rates[0] > 1.5 * rates[1] || rates[1] > 1.5 * rates[0])
			words.push("Requests came more often on one side: " + rates.map(threeDigits).join(", then ") + " a second. At another load the same system takes another time.");
		return words;
	}
	/* For a shell, so only with names that are nothing but names there. */
	function commandText(sides) {
		var safe = sides.every(function (side) {
			return side.inputs.length > 0 && side.inputs.length <= 4 && side.inputs.every(function (name) { return /^[A-Za-z0-9_.\/][A-Za-z0-9_.\/+-]{0,99}$/.test(name); });
		});
		if (!safe || sides[0].inputs.join() === sides[1].inputs.join())
			return "wirepath compare BEFORE AFTER";
		if (sides[0].inputs.length === 1 && sides[1].inputs.length === 1)
			return "wirepath compare " + sides[0].inputs[0] + " " + sides[1].inputs[0];
		return "wirepath compare --before " + sides[0].inputs.join(" ") + " --after " + sides[1].inputs.join(" ");
	}

	/* --- the section --- */

	function addSides(section, sides, labels) {
		addTable(section, "Both results", ["side", "file", "from", "requests", "calls", "length", "a second", "operations", "patterns", "trust in paths"], function (body) {
			sides.forEach(function (side, i) {
				var row = make("tr", {});
				addName(row, i ? "after" : "before");
				addText(row, labels[i]);
				addText(row, visible(side.inputs.join(", "), 60));
				addValue(row, side.requests, countText);
				addValue(row, side.calls, countText);
				addValue(row, side.end > side.begin ? side.end - side.begin : undefined, timeText);
				addValue(row, rateOf(side), threeDigits);
				addValue(row, side.operationsInAll, countText);
				addValue(row, side.patternsInAll, countText);
				addText(row, visible(side.trust, 10));
				body.appendChild(row);
			});
		});
	}
	function addHead(section, sides, labels) {
		var trust = make("p", { "class": "note" }), tools = make("p", { "class": "tools" });
		section.appendChild(make("h2", { tabindex: "-1" }, "Before and after"));
		trust.appendChild(make("strong", {}, "No verdict: "));
		trust.appendChild(document.createTextNode("this part shows differences and does not judge whether they are more than noise. For a verdict: "));
		trust.appendChild(make("code", {}, commandText(sides)));
		section.appendChild(trust);
		tools.appendChild(button("Swap before and after", "What is before becomes after", function () {
			second.isSwapped = !second.isSwapped;
			drawBeside("b-swap");
			save();
		})).id = "b-swap";
		tools.appendChild(button("Another result\u2026", "Another file instead of this one (L)", function () { besideInput.click(); }));
		tools.appendChild(button("Remove", "This page alone again", removeBeside));
		section.appendChild(tools);
		addSides(section, sides, labels);
	}
	/* What was over when the other began is before; else this page, unless it is told otherwise. */
	function inOrder(own) {
		var isOwnLater = own.begin >= second.result.end, labels = ["this page", visible(second.name, 60)], sides = [own, second.result];
		if (isOwnLater !== second.isSwapped) {
			sides.reverse();
			labels.reverse();
		}
		return { sides: sides, labels: labels };
	}
	/* The section anew; FOCUS: id of what has the focus then, else its heading. */
	function drawBeside(focus) {
		var order = inOrder(second.own), sides = order.sides, section = make("section", { id: "beside" });
		var old = document.getElementById("beside"), main = document.querySelector("main");
		var list = rankPairs(pairs(sides[0].operations, sides[1].operations)), patterns = pairs(sides[0].patterns, sides[1].patterns);
		addHead(section, sides, order.labels);
		doubts(list, sides).forEach(function (words) { section.appendChild(make("p", { "class": "note" }, words)); });
		/* Before it is part of the page: its tables are laid out once. */
		addOperations(section, list, sides).forEach(function (pair, index) { addOperation(section, pair, index + 1, patterns); });
		addNodes(section, sides);
		addStructure(section, patterns, list, sides);
		if (old)
			old.remove();
		main.insertBefore(section, main.firstChild);
		nameRegions();
		applyBeside();
		if (focus)
			document.getElementById(focus).focus({ preventScroll: true });
		if (focus || section.querySelector("details[open]"))
			return;
		section.querySelector("h2").focus({ preventScroll: true });
		section.scrollIntoView();
	}
	function openPair(id) {
		var details = document.getElementById(id);
		if (!details)
			return;
		details.open = true;
		details.fill();
		details.scrollIntoView();
		details.querySelector("summary").focus({ preventScroll: true });
	}
	/* What the address says of this part. */
	function applyBeside() {
		if (!second) {
			if (state.f && besideInput)
				tellBeside("This address was made with " + visible(state.f, 60) + " beside this page. " +
					"A page cannot open files by itself: choose it with Beside\u2026 to see the same.");
			return;
		}
		state.f = second.name.slice(0, 200);
		state.d = second.isSwapped ? "swapped" : "";
		if (/^b[0-9]\./.test(state.sort || ""))
			applySort();
		if (/^b-s?[0-9]{1,5}$/.test(state.e || ""))
			openPair(state.e);
	}
	function removeBeside() {
		document.getElementById("beside").remove();
		second = null;
		["f", "d", "e"].forEach(function (key) { delete state[key]; });
		if (/^b/.test(state.sort || ""))
			delete state.sort;
		save();
		besideNav(false);
		live.textContent = "this page alone again";
		document.getElementById("b-open").focus();
	}
	/* A link among those to the other parts, while there is something. */
	function besideNav(isThere) {
		var list = document.querySelector("nav ul"), link = document.querySelector("nav a[href=\"#beside\"]");
		if (link && !isThere)
			link.parentNode.remove();
		if (link || !isThere || !list)
			return;
		link = make("a", { href: "#beside" }, "Before and after");
		list.insertBefore(make("li", {}), list.firstChild).appendChild(link);
	}

	/* --- files --- */

	/* What went wrong stays until it is read. */
	function tellBeside(words) {
		besideNote.textContent = "";
		besideNote.hidden = !words;
		if (!words)
			return;
		besideNote.appendChild(make("span", {}, words + " "));
		besideNote.appendChild(button("Close", "Close this message", function () {
			tellBeside("");
			document.getElementById("b-open").focus();
		}));
		live.textContent = "";
	}
	function showBeside(name, buffer) {
		var numbers = makeNumbers(), result = readResult(parseResult(textOf(buffer)), numbers);
		second = { name: name, result: result, own: readResult(JSON.parse(document.getElementById("data").textContent), numbers) };
		second.own.operations.forEach(function (one, index) { one.id = "b-" + (index + 1); });
		result.operations.forEach(function (one, index) { one.id = "b-s" + (index + 1); });
		tellBeside("");
		besideNav(true);
		if (state.f && state.f !== name.slice(0, 200)) /* what was said of another file */
			["d", "e"].forEach(function (key) { delete state[key]; });
		second.isSwapped = state.d === "swapped";
		drawBeside();
		save();
		live.textContent = visible(name, 60) + " stands beside this page";
	}
	function openBeside(file) {
		var name = visible(file.name, 60), reader = new FileReader();
		if (file.size > besideBytes) {
			tellBeside(name + " has " + countText(Math.ceil(file.size / 1048576)) + " MiB; at most " + (besideBytes >> 20) + " are read here. " +
				"Make it smaller (wirepath report --top 500), or let wirepath compare read it.");
			return;
		}
		live.textContent = "reading " + name;
		reader.addEventListener("load", function () {
			try {
				showBeside(file.name, reader.result);
			} catch (error) {
				tellBeside(name + " " + (error.isTold ? error.message : "cannot be shown") + ".");
			}
		});
		reader.addEventListener("error", function () { tellBeside(name + " cannot be read: it is a folder, or the browser may not open it."); });
		reader.readAsArrayBuffer(file);
	}
	function takeDrops() {
		var inside = 0;
		function isFile(event) {
			return event.dataTransfer && Array.prototype.indexOf.call(event.dataTransfer.types, "Files") >= 0;
		}
		function mark(event, by) {
			if (!isFile(event))
				return;
			inside = Math.max(0, inside + by);
			root.classList.toggle("drop", inside > 0);
			event.preventDefault();
		}
		document.addEventListener("dragenter", function (event) { mark(event, 1); });
		document.addEventListener("dragleave", function (event) { mark(event, -1); });
		document.addEventListener("dragover", function (event) { mark(event, 0); });
		document.addEventListener("drop", function (event) {
			mark(event, -inside);
			if (isFile(event) && event.dataTransfer.files.length === 1)
				openBeside(event.dataTransfer.files[0]);
			else if (isFile(event))
				tellBeside("One file at a time can stand beside this page.");
		});
	}
	/* The button that asks for the file, at the end of BOX, and where it says what is wrong with it. */
	function makeBeside(box) {
		var opener = button("Beside\u2026", "The page or the JSON form of another capture beside this one (L); or drop the file on this page", function () {
			besideInput.click();
		});
		besideInput = make("input", { type: "file", accept: ".html,.htm,.json", hidden: "", "aria-label": "Page or JSON form of another capture" });
		besideInput.addEventListener("change", function () {
			if (besideInput.files.length)
				openBeside(besideInput.files[0]);
			besideInput.value = "";
		});
		opener.id = "b-open";
		box.appendChild(besideInput);
		box.appendChild(opener);
		besideNote = make("p", { "class": "note tell", role: "alert", hidden: "" });
		takeDrops();
	}
	/* Paper gets what is open; of the rest the first few. */
	function printBeside() {
		var isAnyOpen = !!document.querySelector("details.pair[open]");
		each("details.pair", function (one, index) {
			if (isAnyOpen ? !one.open : index >= 5)
				return;
			one.fill();
			one.open = true;
		});
	}
