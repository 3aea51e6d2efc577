/*
 * Another result beside this one: its page or its JSON form, a file that is chosen by hand and read here alone. The same
 * numbers of both, side by side, without a test of chance: that is what wirepath compare is for. What the file says is
 * text and numbers; nothing of it becomes a part of the page.
 */

	/* Rows of a table by the text of their first cell, cells by the text of their heading: numbers or null. */
	function readRows(table) {
		var rows = {};
		if (!table)
			return rows;
		var names = Array.prototype.map.call(table.tHead.rows[0].cells, function (cell) { return cell.textContent; });
		Array.prototype.forEach.call(table.tBodies[0].rows, function (row) {
			var values = {};
			Array.prototype.forEach.call(row.cells, function (cell, index) {
				var value = cell.getAttribute("data-v");
				values[names[index]] = value === null ? null : parseFloat(value);
			});
			rows["=" + row.cells[0].textContent.trim()] = values;
		});
		return rows;
	}
	function tableOf(page, caption) {
		return Array.prototype.filter.call(page.querySelectorAll("#time table"), function (table) {
			return table.tHead && table.tBodies.length && table.caption && table.caption.textContent.indexOf(caption) === 0;
		})[0];
	}
	function readPage(page) {
		if (!page.getElementById("time"))
			throw new Error("it is no page of a report");
		return { requests: readRows(tableOf(page, "Requests by")), nodes: readRows(tableOf(page, "Self time by")) };
	}
	function readJson(result) {
		var read = { requests: {}, nodes: {} };
		if (typeof result.schema !== "string" || result.schema.indexOf("wirepath.report/") !== 0)
			throw new Error("it is no result of wirepath report");
		result.operations.forEach(function (one) {
			if (!one.background)
				read.requests["=" + (one.operation || one.protocol) + " " + one.client + " \u2192 " + one.node] = {
					requests: one.count, errors: one.errors, mean: one.latency.mean_ns, p95: one.latency.p95_ns
				};
		});
		result.self_by_node.forEach(function (one) {
			read.nodes["=" + one.node] = { self: one.self_ns, calls: one.count,
				"a call": one.count ? one.self_ns / one.count : null };
		});
		return read;
	}

	/* "+12.0%", "x3.1", "-40.0%"; "" where one of them is not known. */
	function changeText(before, after) {
		if (!(before > 0) || !(after >= 0))
			return "";
		var change = after / before - 1;
		if (change >= 9)
			return "x" + (after / before).toPrecision(3);
		var percent = (100 * Math.abs(change)).toFixed(Math.abs(change) < 1 ? 1 : 0);
		return percent === "0.0" ? "0%" : (change < 0 ? "-" : "+") + percent + "%";
	}
	/* Two bars, this page's above. */
	function twoBars(here, there, most) {
		var drawing = svg("svg", { width: 100, height: 14, viewBox: "0 0 100 14", role: "img", "aria-label": "two bars" });
		[here, there].forEach(function (value, index) {
			drawing.appendChild(svg("rect", { "class": index ? "c1" : "c0", x: 0, y: 8 * index, height: 6,
				width: value > 0 && most > 0 ? Math.max(100 * value / most, 0.5) : 0 }));
		});
		return drawing;
	}
	function valueCell(row, value, kind) {
		row.appendChild(typeof value !== "number" ? make("td", {})
			: make("td", { "data-v": value }, kind === "count" ? value.toLocaleString("en") : human(value, "self")));
	}
	/* WHAT: [name of the column, kind of number]; the first is what bars and the change are of. */
	function besideTable(here, there, caption, first, what) {
		var box = make("div", { "class": "wide", tabindex: "0", role: "region", "aria-label": caption });
		var table = make("table"), head = make("tr"), body = make("tbody"), most = 0;
		var keys = Object.keys(here).concat(Object.keys(there).filter(function (key) { return !here[key]; }));
		keys.forEach(function (key) {
			most = Math.max(most, (here[key] || {})[what[0][0]] || 0, (there[key] || {})[what[0][0]] || 0);
		});
		[first, what[0][0], "beside", "bars", "change"].concat(what.slice(1).reduce(function (all, one) {
			return all.concat([one[0], "beside"]);
		}, [])).forEach(function (name) { head.appendChild(make("th", { scope: "col" }, name)); });
		keys.forEach(function (key) {
			var row = make("tr"), own = here[key] || {}, other = there[key] || {}, name = what[0][0];
			row.appendChild(make("th", { scope: "row" }, key.slice(1)));
			valueCell(row, own[name], what[0][1]);
			valueCell(row, other[name], what[0][1]);
			row.appendChild(make("td")).appendChild(twoBars(own[name], other[name], most));
			row.appendChild(make("td", {}, !here[key] ? "only beside" : !there[key] ? "only here"
				: changeText(own[name], other[name])));
			what.slice(1).forEach(function (one) {
				valueCell(row, own[one[0]], one[1]);
				valueCell(row, other[one[0]], one[1]);
			});
			body.appendChild(row);
		});
		table.appendChild(make("caption", {}, caption));
		table.appendChild(make("thead")).appendChild(head);
		table.appendChild(body);
		box.appendChild(table);
		return box;
	}
	function showBeside(name, there) {
		var here = readPage(document), section = make("section", { id: "beside" }), old = document.getElementById("beside");
		section.appendChild(make("h2", {}, "Beside " + name));
		section.appendChild(make("p", {}, "Each number of this page, then that of the other; changes are from here to there. " +
			"Whether they are more than chance is not tested here: wirepath compare does that."));
		section.appendChild(besideTable(here.requests, there.requests, "Requests by their first call", "request", [["mean", "time"],
			["p95", "time"], ["requests", "count"], ["errors", "count"]]));
		section.appendChild(besideTable(here.nodes, there.nodes, "Self time by node", "node", [["a call", "time"],
			["self", "time"], ["calls", "count"]]));
		if (old)
			old.parentNode.removeChild(old);
		var time = document.getElementById("time");
		time.parentNode.insertBefore(section, time);
		section.scrollIntoView();
	}
	function openBeside(file) {
		var reader = new FileReader();
		reader.addEventListener("load", function () {
			var text = String(reader.result);
			try {
				showBeside(file.name, /^\s*\{/.test(text) ? readJson(JSON.parse(text))
					: readPage(new DOMParser().parseFromString(text, "text/html")));
				live.textContent = file.name + " stands beside this page";
			} catch (error) {
				live.textContent = file.name + " cannot be shown: " + error.message;
			}
		});
		reader.addEventListener("error", function () { live.textContent = file.name + " cannot be read"; });
		reader.readAsText(file);
	}
	/* The button that asks for the file, at the end of BOX. */
	function makeBeside(box) {
		var input = make("input", { type: "file", accept: ".html,.htm,.json", hidden: "", "aria-label": "Page or JSON of another capture" });
		input.addEventListener("change", function () {
			if (input.files.length)
				openBeside(input.files[0]);
			input.value = "";
		});
		box.appendChild(input);
		box.appendChild(button("Beside\u2026", "The page or the JSON form of another capture beside this one", function () { input.click(); }));
	}
