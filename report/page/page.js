/*
 * What the script adds to an HTML report: sorting, trees that open and close, find, mapper, zoom, a window for a
 * node, keys. It reads everything from the page, which says the same without it; nothing is sent or loaded. What
 * one looks at stands in the address, so that a link can be passed on. The makefile puts it, the files for a second
 * result (beside*.js) and start.js, in this order, into one function.
 */
	"use strict";

	var root = document.documentElement;
	var state = {};   /* p, n: pattern and node; r: root; q, c, s, w, k: controls; t: theme; o: order; f, d, e: of a second result */
	var sortables = Object.create(null); /* tables by their names in the address */
	var trees = [];   /* { number, table, rows: [{ tr, depth, open, branch }], root } */
	var current = null; /* { tree, index } */
	var lastDrawing = null;

	function make(name, attributes, text) {
		var element = document.createElement(name);
		Object.keys(attributes || {}).forEach(function (key) {
			element.setAttribute(key, attributes[key]);
		});
		if (text !== undefined)
			element.textContent = text;
		return element;
	}
	function each(selector, action, from) {
		Array.prototype.forEach.call((from || document).querySelectorAll(selector), action);
	}
	function button(text, title, action) {
		var element = make("button", { type: "button", title: title }, text);
		element.addEventListener("click", action);
		return element;
	}

	/* --- state in the address --- */

	function save() {
		var words = Object.keys(state).filter(function (key) {
			return state[key] !== "" && state[key] !== null && state[key] !== undefined;
		}).map(function (key) {
			return key + "=" + encodeURIComponent(state[key]);
		});
		try {
			history.replaceState(null, "", words.length ? "#" + words.join("&") : location.pathname + location.search);
		} catch (error) { /* a viewer that forbids it: the page works all the same */ }
	}
	function load() {
		var text = location.hash.slice(1), plain = document.getElementById(text);
		if (plain) {
			reveal(plain);
			plain.scrollIntoView();
			return;
		}
		text.split("&").forEach(function (word) {
			var at = word.indexOf("=");
			if (at < 1)
				return;
			try {
				state[word.slice(0, at)] = decodeURIComponent(word.slice(at + 1));
			} catch (error) { /* half a link: what can be read of it counts */ }
		});
	}
	function reveal(element) {
		for (var at = element; at; at = at.parentElement)
			if (at.tagName === "DETAILS")
				at.open = true;
	}

	/* --- tables that sort --- */

	function valueOf(row, column) {
		var cell = row.cells[column], value = cell.getAttribute("data-v");
		return value === null ? cell.textContent.trim().toLowerCase() : parseFloat(value);
	}
	function sortTable(table, column, down) {
		var body = table.tBodies[0];
		var rows = Array.prototype.map.call(body.rows, function (row, index) {
			return { row: row, value: valueOf(row, column), index: index };
		});
		rows.sort(function (a, b) {
			var x = a.value, y = b.value;
			if (x === "" || y === "") /* what has no value comes last, either way */
				return x === y ? a.index - b.index : x === "" ? 1 : -1;
			if (x === y)
				return a.index - b.index;
			return (typeof x === typeof y ? x < y : typeof x === "number") === !down ? -1 : 1;
		});
		rows.forEach(function (one) { body.appendChild(one.row); });
		Array.prototype.forEach.call(table.tHead.rows[0].cells, function (cell, index) {
			if (index === column)
				cell.setAttribute("aria-sort", down ? "descending" : "ascending");
			else
				cell.removeAttribute("aria-sort");
		});
	}
	function makeSortable(table, name) {
		sortables[name] = table;
		Array.prototype.forEach.call(table.tHead.rows[0].cells, function (cell, column) {
			var sorter = button(cell.textContent, "Sort by this column", function () {
				var down = cell.getAttribute("aria-sort") !== "descending";
				sortTable(table, column, down);
				state.sort = name + "." + column + "." + (down ? 1 : 0);
				save();
			});
			cell.textContent = "";
			cell.appendChild(sorter);
		});
		makeShort(table);
	}
	/* Of hundreds of rows the first ones, in any order, until all are asked for: sorting is as fast as with few. */
	function makeShort(table) {
		var n = table.tBodies[0].rows.length, line;
		if (n <= 120)
			return;
		line = make("p", {});
		line.appendChild(button("Show all " + n + " rows", "This table shows the first 100", function () {
			var all = !table.classList.toggle("short");
			line.firstChild.textContent = all ? "Show the first 100 rows" : "Show all " + n + " rows";
		}));
		table.classList.add("short");
		table.parentNode.parentNode.insertBefore(line, table.parentNode.nextSibling);
	}

	/* --- trees --- */

	function makeTree(table) {
		var tree = { number: table.id.slice(1), table: table, rows: [], root: 0 };
		table.setAttribute("role", "treegrid");
		each("thead th", function (cell) { cell.setAttribute("role", "columnheader"); }, table);
		Array.prototype.forEach.call(table.tBodies[0].rows, function (tr, index) {
			var row = { tr: tr, depth: +tr.getAttribute("data-d"), open: true, branch: tr.querySelector(".br") };
			var twist = make("button", { type: "button", "class": "twist", tabindex: "-1", "aria-hidden": "true" });
			row.text = row.branch ? row.branch.textContent : "";
			row.twist = twist;
			tr.setAttribute("role", "row");
			tr.setAttribute("aria-level", row.depth + 1);
			tr.setAttribute("tabindex", index ? "-1" : "0");
			tr.cells[0].setAttribute("role", "rowheader");
			for (var i = 1; i < tr.cells.length; i++)
				tr.cells[i].setAttribute("role", "gridcell");
			tr.cells[0].insertBefore(twist, row.branch ? row.branch.nextSibling : tr.cells[0].firstChild);
			twist.addEventListener("click", function (event) {
				row.open = !row.open;
				refresh(tree);
				event.stopPropagation();
			});
			tr.addEventListener("click", function () { go(tree, index, false); });
			tr.addEventListener("dblclick", function () { showNode(); });
			tree.rows.push(row);
		});
		refresh(tree);
		return tree;
	}
	function hasChild(tree, index) {
		return index + 1 < tree.rows.length && tree.rows[index + 1].depth > tree.rows[index].depth;
	}
	function parentOf(tree, index) {
		for (var i = index - 1; i >= 0; i--)
			if (tree.rows[i].depth < tree.rows[index].depth)
				return i;
		return -1;
	}
	function refresh(tree) {
		var base = tree.rows[tree.root] ? tree.rows[tree.root].depth : 0;
		var closed = Infinity, inside = false;
		tree.rows.forEach(function (row, index) {
			if (index === tree.root)
				inside = true;
			else if (index > tree.root && row.depth <= base)
				inside = false;
			var visible = inside && row.depth <= closed;
			if (visible)
				closed = row.open ? Infinity : row.depth;
			row.tr.hidden = !visible;
			if (row.branch)
				row.branch.textContent = index === tree.root ? "" : row.text.slice(3 * base);
			row.twist.textContent = hasChild(tree, index) ? (row.open ? "\u25be" : "\u25b8") : "";
			if (hasChild(tree, index))
				row.tr.setAttribute("aria-expanded", row.open ? "true" : "false");
		});
	}
	function go(tree, index, focuses) {
		var row = tree.rows[index];
		if (!row)
			return;
		for (var up = parentOf(tree, index); up >= 0; up = parentOf(tree, up))
			tree.rows[up].open = true;
		if (index < tree.root)
			tree.root = 0;
		refresh(tree);
		if (row.tr.hidden) {
			tree.root = 0;
			refresh(tree);
		}
		each("tr.at", function (tr) { tr.classList.remove("at"); tr.setAttribute("tabindex", "-1"); tr.removeAttribute("aria-selected"); });
		row.tr.classList.add("at");
		row.tr.setAttribute("tabindex", "0");
		row.tr.setAttribute("aria-selected", "true");
		current = { tree: tree, index: index };
		reveal(row.tr);
		if (focuses) {
			row.tr.focus({ preventScroll: true });
			row.tr.scrollIntoView({ block: "center" });
		}
		state.p = tree.number;
		state.n = index;
		state.r = tree.root || "";
		save();
		if (!nodePanel.hidden)
			fillNode();
	}
	function step(tree, index, by) {
		for (var i = index + by; i >= 0 && i < tree.rows.length; i += by)
			if (!tree.rows[i].tr.hidden)
				return go(tree, i, true);
	}
	function openTo(tree, depth) {
		tree.rows.forEach(function (row) { row.open = row.depth - tree.rows[tree.root].depth < depth; });
		refresh(tree);
	}
	/* The deepest level that is open, one more. */
	function openLevel(tree) {
		var deepest = 0;
		tree.rows.forEach(function (row) {
			if (!row.tr.hidden)
				deepest = Math.max(deepest, row.depth - tree.rows[tree.root].depth);
		});
		openTo(tree, deepest + 1);
	}
	function setRoot(tree, index) {
		tree.root = Math.max(index, 0);
		state.r = tree.root || "";
		refresh(tree);
		go(tree, Math.max(tree.root, current && current.tree === tree && !tree.rows[current.index].tr.hidden ? current.index : 0), true);
	}
	function columnOf(tree, name) {
		var at = -1;
		Array.prototype.forEach.call(tree.table.tHead.rows[0].cells, function (cell, index) {
			if (cell.getAttribute("data-k") === name)
				at = index;
		});
		return at;
	}
	function number(tree, index, name) {
		var at = columnOf(tree, name), cell = at < 0 ? null : tree.rows[index].tr.cells[at];
		var value = cell ? cell.getAttribute("data-v") : null;
		return value === null ? NaN : parseFloat(value);
	}
	/* The child with the most time, itself and below. */
	function largestChild(tree, index) {
		var best = -1, most = -1;
		for (var i = index + 1; i < tree.rows.length && tree.rows[i].depth > tree.rows[index].depth; i++) {
			var value = number(tree, i, "mean") * number(tree, i, "count");
			if (tree.rows[i].depth === tree.rows[index].depth + 1 && value > most) {
				most = value;
				best = i;
			}
		}
		if (best >= 0)
			go(tree, best, true);
	}

	/* --- find --- */

	var findInput, live, orderSelect;

	function matches() {
		var query = findInput.value.trim().toLowerCase(), found = [];
		if (!query)
			return found;
		trees.forEach(function (tree, t) {
			tree.rows.forEach(function (row, index) {
				if (row.tr.cells[0].textContent.toLowerCase().indexOf(query) >= 0)
					found.push({ t: t, tree: tree, index: index, depth: row.depth });
			});
		});
		if (orderSelect.value === "breadth")
			found.sort(function (a, b) { return a.t - b.t || a.depth - b.depth || a.index - b.index; });
		return found;
	}
	function place(found) {
		for (var i = 0; current && i < found.length; i++)
			if (found[i].tree === current.tree && found[i].index === current.index)
				return i;
		return -1;
	}
	/* From the current node on: the first match behind it in the order of the page, or of levels. */
	function nextFrom(found, by) {
		var at = place(found);
		if (at >= 0)
			return (at + by + found.length) % found.length;
		if (!current)
			return by > 0 ? 0 : found.length - 1;
		var t = trees.indexOf(current.tree), depth = current.tree.rows[current.index].depth;
		for (var i = 0; i < found.length; i++) {
			var one = found[i];
			var later = one.t > t || (one.t === t && (orderSelect.value === "breadth"
				? one.depth > depth || (one.depth === depth && one.index > current.index)
				: one.index > current.index));
			if (later)
				return by > 0 ? i : (i - 1 + found.length) % found.length;
		}
		return by > 0 ? 0 : found.length - 1;
	}
	function find(by, fromRoot) {
		var found = matches();
		state.q = findInput.value.trim();
		save();
		if (!found.length) {
			live.textContent = state.q ? "no match" : "";
			return;
		}
		if (fromRoot)
			current = null;
		var at = nextFrom(found, by);
		go(found[at].tree, found[at].index, document.activeElement !== findInput);
		if (document.activeElement === findInput)
			found[at].tree.rows[found[at].index].tr.scrollIntoView({ block: "center" });
		live.textContent = "match " + (at + 1) + " of " + found.length;
	}

	/* --- mapper: what of a call is its colour, its shape and its width --- */

	var attributes = [
		["", "nothing"], ["node", "node"], ["self", "self time"], ["total", "total time"], ["count", "calls"],
		["spread", "sd / mean"], ["sure", "certainty"], ["errors", "errors"]
	];
	var ramp = ["#fde725", "#5ec962", "#21918c", "#3b528b", "#440154"]; /* viridis: light to dark, for all eyes */
	var shapes = ["M6 1L11 11L1 11Z", "M6 1A5 5 0 1 1 5.99 1Z", "M6 0L12 6L6 12L0 6Z", "M1 1H11V11H1Z", "M4 1H8V4H11V8H8V11H4V8H1V4H4Z"];
	var mapSelects = {}, keyPanel, scaleSelect;

	function attribute(tree, index, name) {
		switch (name) {
		case "self": return number(tree, index, "self");
		case "total": return number(tree, index, "mean");
		case "count": return number(tree, index, "count");
		case "spread": return number(tree, index, "sd") / number(tree, index, "mean");
		case "sure": return index ? number(tree, index, "link") : 1;
		case "errors": return number(tree, index, "errors");
		}
		return NaN;
	}
	/* A function from value to 0..1, and the bounds of its five steps. */
	function scaleOf(name) {
		var values = [];
		trees.forEach(function (tree) {
			tree.rows.forEach(function (row, index) {
				var value = attribute(tree, index, name);
				if (isFinite(value))
					values.push(value);
			});
		});
		values.sort(function (a, b) { return a - b; });
		if (!values.length)
			return null;
		var low = values[0], high = values[values.length - 1], quantile = scaleSelect.value === "quantile";
		function rank(value) {
			var from = 0, to = values.length;
			while (from < to) {
				var middle = (from + to) >> 1;
				if (values[middle] < value)
					from = middle + 1;
				else
					to = middle;
			}
			return values.length > 1 ? from / (values.length - 1) : 0;
		}
		return {
			of: function (value) {
				return Math.min(1, Math.max(0, quantile ? rank(value) : high > low ? (value - low) / (high - low) : 0));
			},
			bound: function (share) {
				return quantile ? values[Math.round(share * (values.length - 1))] : low + share * (high - low);
			}
		};
	}
	function fifth(share) {
		return Math.min(4, Math.floor(share * 5));
	}
	function svg(name, attributes) {
		var element = document.createElementNS("http://www.w3.org/2000/svg", name);
		Object.keys(attributes).forEach(function (key) { element.setAttribute(key, attributes[key]); });
		return element;
	}
	function glyph(color, shape, width) {
		var box = svg("svg", { "class": "glyph", width: 12 + 36 * width, height: 12, "aria-hidden": "true" });
		if (width > 0)
			box.appendChild(svg("rect", { x: 6, y: 3, width: 6 + 36 * width, height: 6, fill: color }));
		box.appendChild(svg("path", { d: shapes[shape], fill: color, stroke: "currentColor", "stroke-width": "0.6" }));
		return box;
	}
	function nodeColor(row) {
		var dot = row.tr.querySelector(".dot");
		return dot ? getComputedStyle(dot).backgroundColor : "gray";
	}
	function remap() {
		var wish = {}, scales = {};
		["c", "s", "w"].forEach(function (key) {
			wish[key] = mapSelects[key].value;
			state[key] = wish[key];
			scales[key] = wish[key] && wish[key] !== "node" ? scaleOf(wish[key]) : null;
		});
		state.scale = scaleSelect.value === "quantile" ? "quantile" : "";
		each(".glyph", function (old) { old.remove(); }, document.querySelector("main"));
		var any = wish.c || wish.s || wish.w;
		trees.forEach(function (tree) {
			tree.rows.forEach(function (row, index) {
				function share(key) {
					var value = attribute(tree, index, wish[key]);
					return scales[key] && isFinite(value) ? scales[key].of(value) : 0;
				}
				var dot = row.tr.querySelector(".dot");
				dot.hidden = !!any;
				if (!any)
					return;
				var color = wish.c === "node" || !wish.c ? nodeColor(row) : ramp[fifth(share("c"))];
				dot.parentNode.insertBefore(glyph(color, wish.s ? fifth(share("s")) : 1, wish.w ? Math.max(share("w"), .02) : 0), dot);
			});
		});
		fillKey(wish, scales);
		save();
	}
	function human(value, name) {
		if (name === "self" || name === "total") {
			var units = [[1e9, " s"], [1e6, " ms"], [1e3, " us"], [1, " ns"]];
			for (var i = 0; i < units.length; i++)
				if (value >= units[i][0])
					return String(+(value / units[i][0]).toPrecision(3)) + units[i][1];
		}
		return String(+value.toPrecision(3));
	}
	function fillKey(wish, scales) {
		var names = { c: "Colour", s: "Shape", w: "Width" };
		keyPanel.body.textContent = "";
		["c", "s", "w"].forEach(function (key) {
			if (!wish[key])
				return;
			var what = attributes.filter(function (one) { return one[0] === wish[key]; })[0];
			keyPanel.body.appendChild(make("p", {}, names[key] + ": " + (what ? what[1] : wish[key])));
			if (!scales[key])
				return;
			for (var i = 0; i < 5; i++) {
				var line = make("p", {});
				line.appendChild(glyph(key === "c" ? ramp[i] : "gray", key === "s" ? i : 1, key === "w" ? Math.max((i + .5) / 5, .02) : 0));
				line.appendChild(document.createTextNode(human(scales[key].bound(i / 5), wish[key]) + " to " + human(scales[key].bound((i + 1) / 5), wish[key])));
				keyPanel.body.appendChild(line);
			}
		});
		if (!wish.c && !wish.s && !wish.w)
			keyPanel.body.appendChild(make("p", {}, "Nothing is mapped. Dots have the colour of the node."));
	}

	/* --- panels --- */

	function makePanel(title, label) {
		var panel = make("section", { "class": "panel", role: "dialog", "aria-label": label, tabindex: "-1" });
		panel.title2 = make("h2", {}, title);
		panel.body = make("div", {});
		panel.hidden = true;
		panel.appendChild(panel.title2);
		panel.appendChild(panel.body);
		panel.appendChild(button("Close (Esc)", "Close", function () { hidePanels(); }));
		document.body.appendChild(panel);
		return panel;
	}
	var nodePanel = makePanel("", "Node");
	var helpPanel = makePanel("Keys", "Keys");
	keyPanel = makePanel("Key", "What colours, shapes and widths mean");

	function hidePanels() {
		var had = !nodePanel.hidden || !helpPanel.hidden || !keyPanel.hidden;
		nodePanel.hidden = helpPanel.hidden = keyPanel.hidden = true;
		if (had && current)
			current.tree.rows[current.index].tr.focus({ preventScroll: true });
	}
	function facts() {
		var cells = current.tree.rows[current.index].tr.cells, heads = current.tree.table.tHead.rows[0].cells, list = [];
		for (var i = 1; i < cells.length; i++)
			if (cells[i].textContent)
				list.push([heads[i].textContent, cells[i].textContent, heads[i].title, cells[i].getAttribute("data-v"), heads[i].getAttribute("data-k")]);
		return list;
	}
	function nameOf(row) {
		var copy = row.tr.cells[0].cloneNode(true);
		each(".br, .twist, em, .glyph", function (part) { part.remove(); }, copy);
		return copy.textContent.trim();
	}
	function fillNode() {
		var row = current.tree.rows[current.index], table = make("table", {}), body = make("tbody", {});
		nodePanel.title2.textContent = nameOf(row);
		nodePanel.body.textContent = "";
		facts().forEach(function (one) {
			var line = make("tr", {});
			line.appendChild(make("th", { scope: "row", title: one[2] }, one[0]));
			line.appendChild(make("td", { title: one[3] }, one[1]));
			body.appendChild(line);
		});
		table.appendChild(body);
		nodePanel.body.appendChild(make("p", {}, "Pattern #" + current.tree.number));
		nodePanel.body.appendChild(table);
		nodePanel.body.appendChild(button("Copy as text", "Copy", function () { copy(false); }));
		nodePanel.body.appendChild(button("Copy as JSON", "Copy", function () { copy(true); }));
	}
	function copy(asJson) {
		var object = { pattern: +current.tree.number, call: nameOf(current.tree.rows[current.index]) };
		facts().forEach(function (one) { object[one[4]] = parseFloat(one[3]); });
		var text = asJson ? JSON.stringify(object) : object.call + "\n" + facts().map(function (one) { return one[0] + "\t" + one[1]; }).join("\n");
		if (navigator.clipboard)
			navigator.clipboard.writeText(text).then(function () { live.textContent = "copied"; }, function () { live.textContent = "the browser forbids copying"; });
	}
	function showNode() {
		if (!current)
			return;
		fillNode();
		nodePanel.hidden = false;
		helpPanel.hidden = keyPanel.hidden = true;
		nodePanel.focus();
	}
	function toggle(panel) {
		var shows = panel.hidden;
		hidePanels();
		panel.hidden = !shows;
		if (shows)
			panel.focus();
	}

	/* --- zoom --- */

	function makeTimeline(drawing) {
		var bars = drawing.querySelector(".bars"), ticks = drawing.querySelectorAll(".tick");
		var whole = bars.viewBox.baseVal.width, height = bars.viewBox.baseVal.height;
		var ns = parseFloat(drawing.getAttribute("data-ns")), from = 0, width = whole, start = null;
		function show() {
			bars.setAttribute("viewBox", from + " 0 " + width + " " + height);
			Array.prototype.forEach.call(ticks, function (tick, i) {
				var at = (from + width * i / (ticks.length - 1)) / whole * ns;
				tick.textContent = at ? human(at, "total") : "0";
			});
		}
		function zoom(factor, center) {
			var middle = center === undefined ? from + width / 2 : center;
			var size = factor ? Math.min(whole, Math.max(whole / 1e4, width / factor)) : whole;
			from = Math.min(whole - size, Math.max(0, middle - (middle - from) / width * size));
			width = size;
			show();
		}
		function position(event) {
			var point = drawing.createSVGPoint();
			point.x = event.clientX;
			point.y = event.clientY;
			return point.matrixTransform(bars.getScreenCTM().inverse()).x;
		}
		var tools = make("span", { "class": "zoom" });
		tools.appendChild(button("+", "Zoom in (+)", function () { zoom(2); }));
		tools.appendChild(button("\u2212", "Zoom out (-)", function () { zoom(.5); }));
		tools.appendChild(button("0", "The whole request (0)", function () { zoom(0); }));
		tools.appendChild(button("\u25c2", "Earlier", function () { from = Math.max(0, from - width / 4); show(); }));
		tools.appendChild(button("\u25b8", "Later", function () { from = Math.min(whole - width, from + width / 4); show(); }));
		drawing.parentNode.parentNode.insertBefore(tools, drawing.parentNode);
		drawing.zoom = zoom;
		drawing.addEventListener("wheel", function (event) {
			if (!event.ctrlKey)
				return;
			event.preventDefault();
			zoom(event.deltaY < 0 ? 1.25 : .8, position(event));
		}, { passive: false });
		drawing.addEventListener("pointerdown", function (event) { start = position(event); lastDrawing = drawing; });
		drawing.addEventListener("pointerup", function (event) {
			var end = position(event), a = Math.max(0, Math.min(start, end)), b = Math.min(whole, Math.max(start, end));
			if (start !== null && b - a > width / 50) {
				from = a;
				width = b - a;
				show();
			}
			start = null;
		});
		tools.addEventListener("focusin", function () { lastDrawing = drawing; });
	}
	function makeFlame(drawing) {
		var full = drawing.viewBox.baseVal.width, at = null;
		var frames = Array.prototype.map.call(drawing.querySelectorAll(".frame"), function (group) {
			var rect = group.querySelector("rect"), text = group.querySelector("text");
			return { group: group, rect: rect, text: text, name: text ? group.querySelector("title").textContent : "",
				x: +rect.getAttribute("x"), width: +rect.getAttribute("width"), depth: +group.getAttribute("data-d"),
				label: text ? text.textContent : "" };
		});
		function zoom(frame) {
			var from = frame ? frame.x : 0, scale = frame ? full / Math.max(frame.width, .01) : 1;
			frames.forEach(function (one) {
				var x = (one.x - from) * scale, width = one.width * scale;
				var shown = x + width > .5 && x < full - .5;
				one.group.style.display = shown ? "" : "none";
				if (!shown)
					return;
				var left = Math.max(0, x), size = Math.min(full, x + width) - left;
				one.rect.setAttribute("x", left);
				one.rect.setAttribute("width", Math.max(size, .3));
				if (!one.text) {
					one.text = svg("text", { y: one.depth * 18 + 13 });
					one.name = one.group.querySelector("title").textContent;
					one.group.appendChild(one.text);
				}
				var room = Math.floor(size / 6.6), name = one.name.replace(/: [^:]* in it and below.*$/, "");
				one.text.setAttribute("x", left + 3);
				one.text.textContent = size < 34 ? "" : name.length > room ? name.slice(0, Math.max(room - 2, 0)) + ".." : name;
			});
		}
		function select(frame) {
			if (at)
				at.group.classList.remove("at");
			at = frame;
			at.group.classList.add("at");
			live.textContent = at.group.querySelector("title").textContent;
		}
		function move(key) {
			if (!at)
				return select(frames[0]);
			var middle = at.x + at.width / 2, best = null;
			frames.forEach(function (one) {
				if (one.group.style.display === "none")
					return;
				if (key === "ArrowDown" && one.depth === at.depth + 1 && one.x >= at.x - .6 && one.x < at.x + at.width && (!best || one.width > best.width))
					best = one;
				if (key === "ArrowUp" && one.depth === at.depth - 1 && one.x <= middle && one.x + one.width >= middle)
					best = one;
				if (key === "ArrowRight" && one.depth === at.depth && one.x > at.x && (!best || one.x < best.x))
					best = one;
				if (key === "ArrowLeft" && one.depth === at.depth && one.x < at.x && (!best || one.x > best.x))
					best = one;
			});
			if (best)
				select(best);
		}
		frames.forEach(function (one) {
			one.group.addEventListener("click", function () { select(one); zoom(one); lastDrawing = drawing; });
		});
		drawing.setAttribute("tabindex", "0");
		drawing.addEventListener("focus", function () { lastDrawing = drawing; });
		drawing.addEventListener("keydown", function (event) {
			if (event.key.indexOf("Arrow") === 0) {
				move(event.key);
				event.preventDefault();
				event.stopPropagation();
			} else if (event.key === "Enter" && at) {
				zoom(at);
				event.stopPropagation();
			}
		});
		drawing.zoom = function (factor) {
			if (!factor)
				zoom(null);
			else if (factor > 1 && at)
				zoom(at);
			else if (factor < 1)
				zoom(null);
		};
		var tools = make("span", { "class": "zoom" });
		tools.appendChild(button("Whole graph (0)", "Show all frames", function () { zoom(null); }));
		drawing.parentNode.parentNode.insertBefore(tools, drawing.parentNode);
	}

	/* --- controls --- */

	function chooser(label, options, action) {
		var box = make("label", {}, label), select = make("select", {});
		options.forEach(function (one) { select.appendChild(make("option", { value: one[0] }, one[1])); });
		select.addEventListener("change", action);
		box.appendChild(select);
		controls.appendChild(box);
		return select;
	}
	var bar = make("section", { "class": "bar", "aria-label": "Controls" });
	var controls = bar;

	/* What is about trees is not shown where there are none. */
	function makeBar() {
		if (!trees.length)
			controls = make("span", {});
		var findBox = make("label", {}, "Find ");
		findInput = make("input", { type: "search", placeholder: "node or operation  ( / )", autocomplete: "off" });
		live = make("span", { "class": "live", role: "status", "aria-live": "polite" });
		findBox.appendChild(findInput);
		controls.appendChild(findBox);
		controls.appendChild(button("Next", "Next match (n)", function () { find(1); }));
		controls.appendChild(button("Previous", "Previous match (N)", function () { find(-1); }));
		controls.appendChild(button("From root", "First match of all", function () { find(1, true); }));
		orderSelect = chooser("", [["depth", "depth first"], ["breadth", "breadth first"]], function () {
			state.o = orderSelect.value === "breadth" ? "breadth" : "";
			save();
		});
		orderSelect.setAttribute("aria-label", "Order of matches");
		(document.getElementById("data") ? bar : controls).appendChild(live);
		mapSelects.c = chooser("Colour", attributes, remap);
		mapSelects.s = chooser("Shape", attributes.filter(function (one) { return one[0] !== "node"; }), remap);
		mapSelects.w = chooser("Width", attributes.filter(function (one) { return one[0] !== "node"; }), remap);
		scaleSelect = chooser("", [["continuous", "by value"], ["quantile", "by rank"]], remap);
		scaleSelect.setAttribute("aria-label", "Scale of the mapper");
		controls.appendChild(button("Key", "What colours, shapes and widths mean (k)", function () { toggle(keyPanel); }));
		var slider = make("label", {}, "Pale if less sure than");
		slider.input = make("input", { type: "range", min: "0", max: "1", step: "0.05", value: "0" });
		slider.appendChild(slider.input);
		slider.input.addEventListener("input", function () { pale(parseFloat(slider.input.value)); });
		controls.appendChild(slider);
		bar.slider = slider.input;
		bar.appendChild(button("Theme", "Light or dark", function () {
			var dark = state.t ? state.t === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
			state.t = dark ? "light" : "dark";
			root.setAttribute("data-theme", state.t);
			remap();
		}));
		if (document.getElementById("data"))
			makeBeside(bar);
		controls.appendChild(button("Keys", "All keys (?)", function () { toggle(helpPanel); }));
		if (besideNote)
			bar.appendChild(besideNote);
		findInput.addEventListener("keydown", function (event) {
			if (event.key === "Enter") {
				find(event.shiftKey ? -1 : 1);
				event.preventDefault();
			}
		});
		var first = document.querySelector("nav") || document.querySelector("main");
		first.parentNode.insertBefore(bar, first.nextSibling);
	}
	function pale(limit) {
		trees.forEach(function (tree) {
			var column = columnOf(tree, "link");
			tree.rows.forEach(function (row) {
				var value = column < 0 ? null : row.tr.cells[column].getAttribute("data-v");
				row.tr.classList.toggle("below", value !== null && parseFloat(value) < limit);
			});
		});
		state.sure = limit || "";
		save();
	}
	var keys = [
		["/", "find"], ["n  N", "next, previous match; opens what is closed"],
		["Up Down", "the call above, below"], ["Right Left", "open; close, or go to the caller"], ["Home End", "first, last call"],
		["Enter", "window of the call"], ["l", "the child with the most time"], ["o", "open one more level"], ["1 .. 9", "open so many levels"],
		["]  [", "open, close all levels"], ["r", "the call becomes the root"], ["u", "root: up one level"], ["R", "the whole pattern again"],
		["+  -  0", "zoom in, out, whole"], ["m", "mapper"], ["k", "key"], ["L", "a second result beside this page"], ["?", "this"], ["Esc", "close"]
	];
	function fillHelp() {
		var table = make("table", {}), body = make("tbody", {});
		keys.forEach(function (one) {
			var line = make("tr", {});
			line.appendChild(make("th", { scope: "row" }, one[0]));
			line.appendChild(make("td", {}, one[1]));
			body.appendChild(line);
		});
		table.appendChild(body);
		helpPanel.body.appendChild(table);
	}
	/* What is in closed details has a size, too. */
	function isShown(element) {
		return !element.closest("details:not([open])") && element.getClientRects().length > 0;
	}
	function drawingNow() {
		if (lastDrawing && isShown(lastDrawing))
			return lastDrawing;
		var best = null;
		each("svg.timeline, svg.flame", function (one) {
			var box = one.getBoundingClientRect();
			if (!best && isShown(one) && box.bottom > 0 && box.top < innerHeight)
				best = one;
		});
		return best;
	}
	function zoomNow(factor) {
		var drawing = drawingNow();
		if (drawing)
			drawing.zoom(factor);
	}
	function ensure() {
		if (!current && trees.length)
			go(trees[0], 0, true);
		return current;
	}
	var actions = {
		"/": function () { findInput.focus(); findInput.select(); },
		"n": function () { find(1); },
		"N": function () { find(-1); },
		"m": function () { mapSelects.c.focus(); },
		"k": function () { toggle(keyPanel); },
		"L": function () {
			if (besideInput)
				besideInput.click();
		},
		"?": function () { toggle(helpPanel); },
		"+": function () { zoomNow(2); },
		"=": function () { zoomNow(2); },
		"-": function () { zoomNow(.5); },
		"0": function () { zoomNow(0); },
		"Escape": hidePanels
	};
	var treeActions = {
		"ArrowDown": function (tree, index) { step(tree, index, 1); },
		"ArrowUp": function (tree, index) { step(tree, index, -1); },
		"ArrowRight": function (tree, index) {
			if (hasChild(tree, index) && !tree.rows[index].open) {
				tree.rows[index].open = true;
				refresh(tree);
			} else if (hasChild(tree, index)) {
				step(tree, index, 1);
			}
		},
		"ArrowLeft": function (tree, index) {
			if (hasChild(tree, index) && tree.rows[index].open) {
				tree.rows[index].open = false;
				refresh(tree);
			} else if (index > tree.root) {
				go(tree, parentOf(tree, index), true);
			}
		},
		"Home": function (tree) { go(tree, tree.root, true); },
		"End": function (tree) {
			for (var i = tree.rows.length - 1; i >= 0; i--)
				if (!tree.rows[i].tr.hidden)
					return go(tree, i, true);
		},
		"Enter": function () { showNode(); }
	};
	var wholeActions = {
		"l": function (tree, index) { largestChild(tree, index); },
		"o": function (tree) { openLevel(tree); },
		"]": function (tree) { openTo(tree, Infinity); },
		"[": function (tree) { openTo(tree, 0); go(tree, tree.root, true); },
		"r": function (tree, index) { setRoot(tree, index); },
		"u": function (tree) { setRoot(tree, parentOf(tree, tree.root)); },
		"R": function (tree) { setRoot(tree, 0); }
	};
	function onKey(event) {
		var target = event.target, key = event.key;
		if (event.ctrlKey || event.altKey || event.metaKey || !trees.length)
			return;
		if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) {
			if (key === "Escape")
				target.blur();
			return;
		}
		var onRow = target.closest && target.closest("table.tree tbody tr");
		if (onRow && (!current || current.tree.rows[current.index].tr !== onRow))
			trees.forEach(function (tree) {
				tree.rows.forEach(function (row, index) {
					if (row.tr === onRow)
						go(tree, index, false);
				});
			});
		if (actions[key])
			actions[key]();
		else if (onRow && treeActions[key])
			treeActions[key](current.tree, current.index);
		else if (wholeActions[key] && ensure())
			wholeActions[key](current.tree, current.index);
		else if (key >= "1" && key <= "9" && ensure())
			openTo(current.tree, +key);
		else
			return;
		event.preventDefault();
	}
	function apply() {
		if (state.t)
			root.setAttribute("data-theme", state.t);
		findInput.value = state.q || "";
		orderSelect.value = state.o || "depth";
		scaleSelect.value = state.scale || "continuous";
		["c", "s", "w"].forEach(function (key) {
			mapSelects[key].value = state[key] || "";
			if (mapSelects[key].selectedIndex < 0)
				mapSelects[key].value = "";
		});
		if (state.sure) {
			bar.slider.value = state.sure;
			pale(parseFloat(state.sure) || 0);
		}
		applySort();
		if (state.c || state.s || state.w)
			remap();
		else
			fillKey({}, {});
		var tree = trees.filter(function (one) { return one.number === state.p; })[0];
		if (tree && tree.rows[+state.n]) {
			tree.root = tree.rows[+state.r] ? +state.r : 0;
			go(tree, +state.n, true);
		}
		applyBeside();
	}
	function applySort() {
		var words = (state.sort || "").split("."), table = sortables[words[0]];
		if (table && table.tHead.rows[0].cells[+words[1]])
			sortTable(table, +words[1], words[2] === "1");
	}
	/* Paper has no way to open what is closed. */
	function onPrint() {
		each("details.pattern", function (one, index) { one.open = one.open || index < 10; });
		printBeside();
	}

	/* What can be scrolled is a landmark, and no two landmarks have one name: those of a pattern have its name, too. */
	function nameRegions() {
		var seen = {};
		each(".wide", function (one) {
			var caption = one.querySelector("caption") || one.querySelector("title");
			var name = caption ? caption.textContent : "table", within = one.closest("details.pattern, details.pair");
			if (within)
				name += ", " + within.querySelector("summary").textContent.trim();
			seen["=" + name] = (seen["=" + name] || 0) + 1;
			one.setAttribute("role", "region");
			one.setAttribute("aria-label", seen["=" + name] > 1 ? name + ", " + seen["=" + name] : name);
		});
	}
