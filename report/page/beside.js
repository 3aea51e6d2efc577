/*
 * A second result beside this page, read: its page or its JSON form, a file that is chosen by hand and stays here. Both
 * forms, and the block of data of this page (write-html-data.c), become the same lists, in which equal things of both
 * have equal keys. The file may be anybody's: it is parsed as JSON, every member is checked, and nothing of it becomes more
 * than text. What is shown of it is in beside-view.js.
 */

	/* The block of data in the text of a page; in two pieces, as this script stands in pages that have none. */
	function dataIn(text) {
		var mark = "<script type=\"application/" + "json\" id=\"data\">", at = text.indexOf(mark);
		var end = text.indexOf("<\/script>", at);
		return at < 0 || end < 0 ? null : text.slice(at + mark.length, end);
	}
	/* What is wrong with the file, after its name, and what to do. */
	function refuse(what, todo) {
		var error = new Error(what + ". " + todo);
		error.isTold = true;
		throw error;
	}
	var makeAgain = "Make it again with this version: wirepath report CAPTURE -o x.html";
	var makeOne = "What can stand here is the page or the JSON form of a report: wirepath report CAPTURE -o x.html";

	function senseless(member) {
		refuse("cannot be shown: its \"" + member + "\" makes no sense", makeAgain);
	}

	/* --- what is in the file --- */

	var besideBytes = 64 << 20; /* as much as a browser parses in a second */
	var firstBytes = [
		["1f8b", "packed"], ["28b52ffd", "packed"], ["04224d18", "packed"], ["504b0304", "packed"],
		["d4c3b2a1", "capture"], ["a1b2c3d4", "capture"], ["4d3cb2a1", "capture"], ["a1b23c4d", "capture"], ["0a0d0d0a", "capture"],
		["2377697265706174682d7472616365", "capture"] /* #wirepath-trace */
	];

	function textOf(buffer) {
		var bytes = new Uint8Array(buffer, 0, Math.min(buffer.byteLength, 16)), head = "";
		for (var i = 0; i < bytes.length; i++)
			head += (bytes[i] < 16 ? "0" : "") + bytes[i].toString(16);
		var known = firstBytes.filter(function (one) { return head.indexOf(one[0]) === 0; })[0];
		if (!bytes.length)
			refuse("is empty", makeOne);
		if (known && known[1] === "packed")
			refuse("is compressed", "Unpack it first, then choose what was in it");
		if (known)
			refuse("is a capture or a trace, not a result of one", "Make one of it: wirepath report FILE -o x.html");
		return new TextDecoder().decode(buffer);
	}
	function parseText(text, isPage) {
		try {
			return JSON.parse(text);
		} catch (error) {
			return refuse(isPage ? "is damaged: its block of data cannot be read" : "is no JSON, or was cut short", "Copy it again, or make it again");
		}
	}
	/* The object in TEXT, of either form. */
	function parseResult(text) {
		if (/^\s*[[{]/.test(text))
			return parseText(text, false);
		if (!/^\s*</.test(text))
			refuse("is neither a page nor JSON", makeOne);
		var isOurs = text.slice(0, 20000).indexOf("name=\"generator\" content=\"wirepath") >= 0, data = dataIn(text);
		if (isOurs && text.slice(-100).indexOf("<\/html>") < 0)
			refuse("was cut short: it has no end", "Copy it again");
		if (!isOurs)
			refuse("is a page of another program", makeOne);
		if (data === null)
			refuse("is a page of wirepath that holds no numbers of a report", "It is a comparison, or of an older version. " + makeOne);
		return parseText(data, true);
	}
	function checkSchema(result) {
		var schema = result && typeof result.schema === "string" ? result.schema : "";
		if (schema === "wirepath.report/2" || schema === "wirepath.page/1")
			return schema;
		if (/^wirepath\.(report|page)\//.test(schema))
			refuse("is of another version (" + visible(schema, 40) + "; this page reads wirepath.report/2 and wirepath.page/1)", "Make both with the same wirepath");
		if (/^wirepath\./.test(schema))
			refuse("is the result of another command (" + visible(schema, 40) + ")", makeOne);
		return refuse("is JSON, but no result of wirepath report", makeOne);
	}

	/* --- members, checked --- */

	function listOf(value, member) {
		return Array.isArray(value) ? value : senseless(member);
	}
	function objectOf(value, member) {
		return value && typeof value === "object" && !Array.isArray(value) ? value : senseless(member);
	}
	function stringOf(value, member) {
		return typeof value === "string" ? value : senseless(member);
	}
	function maybeString(value, member) {
		return value === null || value === undefined ? "" : stringOf(value, member);
	}
	function numberOf(value, member) {
		return typeof value === "number" && isFinite(value) ? value : senseless(member);
	}
	/* Counts beyond what numbers hold exactly are texts of digits. */
	function countOf(value, member) {
		var number = typeof value === "string" && /^[0-9]{1,20}$/.test(value) ? +value : value;
		return numberOf(number, member) >= 0 ? number : senseless(member);
	}
	/* Number of an earlier one in a list; -1 for a root, which only the first is. */
	function parentIn(value, index, member) {
		var parent = value === null || value === undefined ? -1 : numberOf(value, member);
		return parent === Math.floor(parent) && parent < index && (index ? parent >= 0 : parent === -1) ? parent : senseless(member);
	}
	/* Of NAMES, "mean": "mean_ns"; null where nothing was measured. */
	function timesOf(value, names, member) {
		var times = { count: countOf(objectOf(value, member).count, member) };
		if (!times.count)
			return null;
		names.forEach(function (name) { times[name] = numberOf(value[name + "_ns"], member); });
		return times;
	}
	/* "low high count,..."; null where there is nothing, or it goes backwards. */
	function binsOf(text) {
		var last = -1, bins = [], isGood = typeof text === "string" && text !== "" && text.length < 2e6;
		if (!isGood)
			return null;
		isGood = text.split(",").every(function (row) {
			var bin = /^(\d{1,19}) (\d{1,19}) (\d{1,19})$/.exec(row);
			if (!bin || +bin[1] < last || +bin[2] < +bin[1])
				return false;
			last = +bin[2];
			bins.push([+bin[1], +bin[2], +bin[3]]);
			return true;
		});
		return isGood ? bins : null;
	}

	/* --- the data of a page, made as long as the JSON form --- */

	function unpackPage(data) {
		var texts = listOf(data.texts, "texts");
		function name(number) {
			return stringOf(texts[numberOf(number, "texts")], "texts");
		}
		function times(list, names, member) {
			var result = { count: listOf(list, member).length ? list[0] : 0 };
			names.forEach(function (one, i) { result[one + "_ns"] = list[i + 1]; });
			return result;
		}
		function place(list) {
			listOf(list, "tree");
			return { node: name(list[0]), operation: name(list[1]), protocol: name(list[2]), parent: list[3] < 0 ? null : list[3], waits: !!list[4],
				calls_a_request: list[5], errors_a_request: list[6], latency_mean_ns: list[7], self_a_request_ns: list[8] };
		}
		function node(list) {
			listOf(list, "nodes");
			return { node: name(list[0]), operation: name(list[1]), protocol: name(list[2]), parent: list[3] < 0 ? null : list[3], repeat: list[4],
				count: list[5], errors: list[6], latency: times(list[7], ["mean", "p50", "p95", "p99"], "nodes"),
				self: times(list[8], ["mean", "p95"], "nodes") };
		}
		function operation(one) {
			objectOf(one, "operations");
			return Object.assign({}, one, { client: name(one.client), node: name(one.node), operation: name(one.operation), protocol: name(one.protocol),
				uncertain: { count: one.uncertain }, tree: listOf(one.tree, "tree").map(place),
				latency: times(one.latency, ["mean", "sd", "min", "p50", "p90", "p95", "p99", "max"], "operations") });
		}
		return Object.assign({}, data, {
			links: { engine: data.engine, trust: data.trust },
			self_by_node: listOf(data.self_by_node, "self_by_node").map(function (list) {
				return { node: name(listOf(list, "self_by_node")[0]), count: list[1], errors: list[2], self_ns: list[3] };
			}),
			operations: listOf(data.operations, "operations").map(operation),
			patterns: listOf(data.patterns, "patterns").map(function (one) {
				return Object.assign({}, objectOf(one, "patterns"), { nodes: listOf(one.nodes, "nodes").map(node) });
			})
		});
	}

	/* --- one result as lists with keys --- */

	/* Equal texts have equal numbers; of both results, so that trees are compared as fast as numbers. */
	function makeNumbers() {
		var known = new Map();
		return function (text) {
			if (!known.has(text))
				known.set(text, known.size);
			return known.get(text);
		};
	}
	/* KEY, or where SEEN has it, one that follows from it: names need not be unique. */
	function unique(seen, key) {
		var n = (seen.get(key) || 0) + 1;
		seen.set(key, n);
		return n === 1 ? key : key + "\n" + n;
	}
	function readPlaces(tree, numbers) {
		var seen = new Map(), places = [];
		listOf(tree, "tree").forEach(function (one, index) {
			var parent = parentIn(objectOf(one, "tree").parent, index, "tree");
			var place = { node: stringOf(one.node, "tree"), operation: stringOf(one.operation, "tree"), protocol: stringOf(one.protocol, "tree"),
				parent: parent, depth: parent < 0 ? 0 : places[parent].depth + 1, waits: !!one.waits,
				calls: numberOf(one.calls_a_request, "tree"), errors: numberOf(one.errors_a_request, "tree"),
				latency: numberOf(one.latency_mean_ns, "tree"), self: numberOf(one.self_a_request_ns, "tree") };
			place.key = unique(seen, numbers((parent < 0 ? "" : places[parent].key) + "\n" + JSON.stringify([place.node, place.operation, place.protocol])));
			places.push(place);
		});
		return places;
	}
	function readOperations(result, bins, numbers) {
		var seen = new Map();
		return listOf(result.operations, "operations").map(function (one) {
			var operation = { client: stringOf(objectOf(one, "operations").client, "operations"), node: stringOf(one.node, "operations"),
				operation: stringOf(one.operation, "operations"), protocol: stringOf(one.protocol, "operations"),
				count: countOf(one.count, "operations"), errors: countOf(one.errors, "operations"), total: numberOf(one.total_ns, "operations"),
				isBackground: !!one.background, uncertain: countOf(objectOf(one.uncertain, "operations").count, "operations"),
				latency: timesOf(one.latency, ["mean", "min", "p50", "p90", "p95", "p99", "max"], "operations"),
				places: readPlaces(one.tree, numbers) };
			var name = JSON.stringify([operation.client, operation.node, operation.operation, operation.protocol]);
			operation.bins = binsOf(bins ? bins.get(name) : one.bins);
			operation.key = unique(seen, "o" + numbers(name));
			return operation;
		});
	}
	/* The JSON form has the latencies among what wirepath compare reads; nothing of a comparison without. */
	function binsOfJson(comparison) {
		var bins = new Map(), nodes = comparison && comparison.nodes, operations = comparison && comparison.operations;
		function name(number) {
			return nodes[number] && typeof nodes[number].name === "string" ? nodes[number].name : "";
		}
		if (Array.isArray(nodes) && Array.isArray(operations))
			operations.forEach(function (one) {
				if (one && typeof one === "object")
					bins.set(JSON.stringify([name(one.client), name(one.node), one.operation, one.protocol]), one.bins);
			});
		return bins;
	}
	function readNode(one, index, before) {
		var parent = parentIn(objectOf(one, "nodes").parent, index, "nodes");
		return { node: stringOf(one.node, "nodes"), operation: stringOf(one.operation, "nodes"), protocol: stringOf(one.protocol, "nodes"),
			parent: parent, depth: parent < 0 ? 0 : before[parent].depth + 1, repeat: countOf(one.repeat, "nodes"),
			count: countOf(one.count, "nodes"), errors: countOf(one.errors, "nodes"),
			latency: timesOf(one.latency, ["mean", "p50", "p95", "p99"], "nodes"), self: timesOf(one.self, ["mean", "p95"], "nodes") };
	}
	/* A pattern is the same where it is the same tree of the same operation. */
	function readPatterns(result, operations, numbers) {
		var seen = new Map();
		return listOf(result.patterns, "patterns").map(function (one) {
			var nodes = [], operation = operations[countOf(objectOf(one, "patterns").operation, "patterns")] || senseless("patterns");
			listOf(one.nodes, "nodes").forEach(function (node, index) { nodes.push(readNode(node, index, nodes)); });
			if (!nodes.length)
				senseless("nodes");
			return { rank: countOf(one.rank, "patterns"), operation: operation, count: countOf(one.count, "patterns"), errors: countOf(one.errors, "patterns"),
				total: numberOf(one.total_ns, "patterns"), nodes: nodes,
				key: unique(seen, "p" + numbers(operation.key + nodes.map(function (node) {
					return [node.parent, numbers(node.node), numbers(node.operation), numbers(node.protocol), node.repeat].join(" ");
				}).join(","))) };
		});
	}
	function readNodes(result) {
		var seen = new Map();
		return listOf(result.self_by_node, "self_by_node").map(function (one) {
			return { name: stringOf(objectOf(one, "self_by_node").node, "self_by_node"), count: countOf(one.count, "self_by_node"),
				errors: countOf(one.errors, "self_by_node"), self: numberOf(one.self_ns, "self_by_node"), key: unique(seen, one.node) };
		});
	}
	function epochOf(value, member) {
		return value === undefined ? NaN : /^-?[0-9]{1,20}$/.test(stringOf(value, member)) ? +value : senseless(member);
	}
	/* RESULT in either form; NUMBERS are those of both sides. */
	function readResult(result, numbers) {
		var isPage = checkSchema(result) === "wirepath.page/1", whole = isPage ? unpackPage(result) : result;
		var links = objectOf(whole.links, "links");
		var read = {
			inputs: listOf(whole.inputs, "inputs").map(function (one) { return stringOf(one, "inputs"); }),
			root: maybeString(whole.root, "root"), hidden: maybeString(whole.hidden, "hidden"), where: maybeString(whole.where, "where"),
			partial: maybeString(whole.partial_reason, "partial_reason"),
			begin: epochOf(whole.begin_ns, "begin_ns"), end: epochOf(whole.end_ns, "end_ns"),
			requests: countOf(whole.requests, "requests"), calls: countOf(whole.calls, "calls"), total: numberOf(whole.total_ns, "total_ns"),
			engine: stringOf(links.engine, "links"), trust: stringOf(links.trust, "links"),
			operations: readOperations(whole, isPage ? null : binsOfJson(whole.comparison), numbers),
			nodes: readNodes(whole)
		};
		read.patterns = readPatterns(whole, read.operations, numbers);
		read.operationsInAll = isPage ? countOf(whole.operations_in_all, "operations_in_all") : read.operations.length;
		read.patternsInAll = countOf(whole.patterns_in_all, "patterns_in_all");
		return read;
	}

	/* Both sides of each, what the first side has first: [{ key, before, after }], of which one may be missing. */
	function pairs(before, after) {
		var others = new Map(after.map(function (one) { return [one.key, one]; })), list = before.map(function (one) {
			var pair = { before: one, after: others.get(one.key) };
			others.delete(one.key);
			return pair;
		});
		others.forEach(function (one) { list.push({ before: undefined, after: one }); });
		return list;
	}
	/* Two trees as one, in pre-order: what only the second has follows the children of its caller in the first. */
	function mergeTrees(before, after) {
		var rows = new Map(), first = null, list = [], open = [];
		[before, after].forEach(function (places, side) {
			places.forEach(function (place) {
				var row = rows.get(place.key);
				if (!row) {
					row = { node: place.node, operation: place.operation || place.protocol, depth: place.depth, repeat: 1, waits: place.waits, below: [], sides: [null, null] };
					rows.set(place.key, row);
					if (place.parent < 0)
						first = first || row;
					else
						rows.get(places[place.parent].key).below.push(row);
				}
				row.sides[side] = place;
			});
		});
		if (first)
			open.push(first);
		while (open.length) {
			var row = open.pop();
			list.push(row);
			for (var i = row.below.length - 1; i >= 0; i--)
				open.push(row.below[i]);
		}
		return list;
	}
