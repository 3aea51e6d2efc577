/*
 * A second result beside a page, in Chromium: the numbers are those of the JSON forms of both, from either form of the
 * file; what it says of files that it cannot show; names that would harm it; swap, removal, addresses, keys, drops.
 *
 *   node beside.js CHROMIUM FOLDER
 *
 * FOLDER has before, after, warm, shop and hostile, each as .html and .json, review.html, review.json, and what run puts
 * into bad/.
 */
"use strict";

const fs = require("fs");
const path = require("path");
const { run } = require("./browser.js");

const [program, folder] = process.argv.slice(2);
const file = (name) => path.join(fs.realpathSync(folder), name);
const url = (name) => "file://" + file(name);
const json = (name) => JSON.parse(fs.readFileSync(file(name), "utf8"));
let failed = 0;

function check(what, ok, seen) {
	if (!ok) {
		failed++;
		if (failed <= 30)
			console.log("FAIL: " + what + (seen === undefined ? "" : ": " + JSON.stringify(seen).slice(0, 600)));
	}
}

const said = "[...document.querySelectorAll('[role=status], [role=alert]')].map(e => e.textContent).join('|')";
const shown = "!!document.getElementById('beside')";
/* Rows of the table whose caption begins so, below SELECTOR; exact values where there are any. */
const rows = (caption, selector) => `(() => { const t = [...document.querySelectorAll(${JSON.stringify((selector || "#beside") + " table")})].find(t =>` +
	`t.caption.textContent.startsWith(${JSON.stringify(caption)})); return t ? [...t.tBodies[0].rows].map(r => [...r.cells].map(c =>` +
	"c.dataset.v === undefined ? c.textContent : +c.dataset.v)) : null; })()";

/* Chooses FILE in the field of the page and waits until it is shown, or refused. */
async function choose(browser, name) {
	await browser.ask("document.querySelectorAll('[role=status], [role=alert]').forEach(e => { e.textContent = ''; }); 0");
	await browser.choose("input[type=file]", file(name));
	await browser.until("/stands beside|\\.Close|\\. Close/.test(" + said + ")");
	return browser.ask(said);
}

const near = (a, b) => b === undefined || b === null ? a === "" || a === 0 || a === undefined : Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(b)) + 1e-9;
const same = (what, cells, wanted) => wanted.forEach((value, i) => check(what + ", column " + (i + 1),
	value === null || (typeof value === "string" ? cells[i + 1] === value : near(cells[i + 1], value)), [cells[i + 1], value, cells[0]]));

/* What both JSON forms say, side by side: the same joined independently of the page. */
function joined(before, after, of) {
	const known = new Map(after.map((one) => [of(one), one])), list = before.map((one) => [one, known.get(of(one))]);
	before.forEach((one) => known.delete(of(one)));
	return [...list, ...[...known.values()].map((one) => [undefined, one])];
}
const nameOf = (one) => JSON.stringify([one.client, one.node, one.operation, one.protocol]);
const titleOf = (one) => (one.operation || one.protocol) + " " + one.client + " \u2192 " + one.node;
const chain = (tree, i) => (i === null ? "" : chain(tree, tree[i].parent) + JSON.stringify([tree[i].node, tree[i].operation, tree[i].protocol]));
const formOf = (report) => (one) => nameOf(report.operations[one.operation]) + one.nodes.map((n) =>
	JSON.stringify([n.parent, n.node, n.operation, n.protocol, n.repeat])).join();
const change = (a, b) => a > 0 && b >= 0 ? b / a - 1 : undefined;

async function numbers(browser, names, sides) {
	const [b, a] = sides, operations = joined(b.operations, a.operations, nameOf);
	const table = await browser.ask(rows("Requests by their first call"));
	check("all requests have a row", table.length === Math.min(200, operations.length), [table.length, operations.length]);
	for (const [one, two] of operations) {
		const title = titleOf(one || two), cells = table.find((row) => row[0].includes(title));
		if (!cells) {
			check("a row of " + title, operations.length > 200);
			continue;
		}
		const times = (name) => [one && one.latency[name], two && two.latency[name]];
		const means = times("mean_ns"), both = one && two && means[0] !== undefined && means[1] !== undefined;
		same(names + ", " + title, cells, [one && one.count, two && two.count, one && one.count / b.requests, two && two.count / a.requests, ...means, null,
			!one ? "only after" : !two ? "only before" : both ? change(...means) : null, both ? (means[1] - means[0]) * two.count : undefined,
			...times("p50_ns"), ...times("p95_ns"), one && one.errors / one.count, two && two.errors / two.count]);
	}
	const nodes = await browser.ask(rows("Self time by node"));
	const totals = joined(b.self_by_node, a.self_by_node, (one) => one.node), sums = sides.map((one) => one.self_by_node.reduce((sum, node) => sum + node.self_ns, 0));
	check("all nodes have a row", nodes.length === totals.length, [nodes.length, totals.length]);
	totals.forEach(([one, two], i) => same(names + ", node " + (one || two).node, nodes[i], [one && one.count, two && two.count, one && one.count ? one.self_ns / one.count : undefined,
		two && two.count ? two.self_ns / two.count : undefined, null, null, one && one.self_ns / sums[0], two && two.self_ns / sums[1], one && one.errors, two && two.errors]));
	await trees(browser, names, sides, operations);
	await structure(browser, names, sides);
}

/* Of each request its calls, quantiles and patterns; each is made when it is opened. */
async function trees(browser, names, sides, operations) {
	const count = await browser.ask("(() => { const all = [...document.querySelectorAll('details.pair')]; all.forEach(one => { one.open = true; }); return all.length; })()");
	await browser.until("[...document.querySelectorAll('details.pair')].every(one => one.querySelector('table'))");
	const titles = await browser.ask("[...document.querySelectorAll('details.pair > summary h4')].map(h => h.textContent)");
	check("each has a part", count === operations.length, [count, operations.length]);
	const forms = sides.map(formOf), formed = (side) => sides[side].patterns.map((one) => ({ ...one, form: forms[side](one), side }));
	const patterns = joined(formed(0), formed(1), (one) => one.form);
	for (const [one, two] of operations) {
		const at = titles.findIndex((title) => title.includes(titleOf(one || two))), id = await browser.ask(`document.querySelectorAll('details.pair')[${at}].id`);
		const places = [one, two].map((own) => own ? own.tree.map((place, i) => ({ ...place, chain: chain(own.tree, i) })) : []);
		const tree = await browser.ask(rows("All its patterns", "#" + id)), wanted = joined(places[0], places[1], (place) => place.chain);
		check("all calls have a row", tree.length === wanted.length, [titles[at], tree.length, wanted.length]);
		const left = tree.slice();
		for (const [p, q] of wanted) {
			const values = [p && p.calls_a_request, q && q.calls_a_request, p && p.self_a_request_ns, q && q.self_a_request_ns, null, null, p && p.latency_mean_ns, q && q.latency_mean_ns];
			const index = left.findIndex((cells) => cells[0].includes((p || q).node) && values.every((value, i) => value === null || near(cells[i + 1], value)));
			check(names + ", a row with the numbers of " + (p || q).chain, index >= 0, values);
			left.splice(index, index >= 0 ? 1 : 0);
		}
		const quantiles = await browser.ask(rows("Latency of the requests", "#" + id));
		["mean", "p50", "p90", "p95", "p99", "max"].forEach((name, i) => {
			const times = [one, two].map((own) => own && own.latency[name + "_ns"]);
			same(names + ", " + name, quantiles[i], [...times, times[0] !== undefined && times[1] !== undefined ? times[1] - times[0] : undefined]);
		});
		const own = patterns.filter(([p, q]) => nameOf(sides[(p || q).side].operations[(p || q).operation]) === nameOf(one || two));
		const list = await browser.ask(rows("Its patterns", "#" + id));
		check("all its patterns have a row", (list || []).length === Math.min(50, own.length), [(list || []).length, own.length]);
		for (const [p, q] of own) {
			const cells = (list || []).find((row) => row[0].startsWith((p ? "#" + p.rank : "-") + " / " + (q ? "#" + q.rank : "-") + " ")), latency = (x, name) => x && x.nodes[0].latency[name];
			if (cells)
				same(names + ", pattern " + cells[0], cells, [p && p.count / one.count, q && q.count / two.count, latency(p, "mean_ns"), latency(q, "mean_ns"), null, null,
					latency(p, "p50_ns"), latency(q, "p50_ns"), latency(p, "p95_ns"), latency(q, "p95_ns")]);
			check("a row of a pattern", cells || own.length > 50, (p || q).rank);
		}
		await patternTree(browser, names, id, own[0]);
	}
	const curves = await browser.ask("[...document.querySelectorAll('details.pair')].map(d => d.querySelectorAll('svg.curve polyline').length)");
	check("latencies of both are drawn over each other", curves.includes(2) || operations.every(([one, two]) => !one || !two), curves);
}

async function patternTree(browser, names, id, pair) {
	const inner = `document.querySelector('#${id} details.request')`;
	if (!pair || !await browser.ask("!!" + inner))
		return;
	await browser.ask(inner + ".open = true");
	await browser.until("!!" + inner + ".querySelector('table')");
	const [p, q] = pair, table = await browser.ask(rows("Calls of pattern", "#" + id + " details.request")), time = (times, name) => times && times.count ? times[name] : undefined;
	check("all calls of a pattern have a row", table.length === (p || q).nodes.length, [table.length, (p || q).nodes.length]);
	table.forEach((cells, i) => {
		const [x, y] = [p && p.nodes[i], q && q.nodes[i]], both = (of, name) => [x && time(x[of], name), y && time(y[of], name)];
		same(names + ", call " + i + " of a pattern", cells, [x && x.count, y && y.count, ...both("self", "mean_ns"), null, null, ...both("self", "p95_ns"),
			...both("latency", "mean_ns"), ...both("latency", "p50_ns"), ...both("latency", "p95_ns")]);
	});
}

async function structure(browser, names, sides) {
	const forms = sides.map((one) => new Set(one.patterns.map(formOf(one)))), table = await browser.ask(rows("Patterns on one side only")) || [];
	const alone = [0, 1].flatMap((side) => sides[side].patterns.filter((one) => !forms[1 - side].has(formOf(sides[side])(one))).map((one) => [side ? "after" : "before", one, sides[side]]));
	check("patterns on one side", table.length === Math.min(50, alone.length), [names, table.length, alone.length]);
	for (const cells of table) {
		const found = alone.find(([side, one]) => cells[1] === side && cells[0].startsWith("#" + one.rank + " "));
		check("... are just these", !!found, cells);
		if (found)
			same("a pattern on one side", cells.slice(1), [found[1].count, found[1].count / found[2].requests, found[1].nodes[0].latency.mean_ns, found[1].nodes[0].latency.p95_ns]);
	}
}

/* Everything of it, without drawings: bins of latencies are finer in the JSON form. */
const text = "(() => { const s = document.getElementById('beside').cloneNode(true); s.querySelectorAll('svg').forEach(e => e.remove()); return s.textContent.replaceAll('after.html', 'after.json'); })()";

async function bothForms(browser) {
	const sides = [json("before.json"), json("after.json")], seen = [];
	await browser.open(url("before.html"));
	for (const name of ["after.json", "after.html"]) {
		check(name + " is shown", /stands beside/.test(await choose(browser, name)), await browser.ask(said));
		await numbers(browser, name, sides);
		seen.push(await browser.ask(text));
	}
	check("the page and the JSON form give the same", seen[0] === seen[1]);
	check("it says that there is no verdict", /^Before and after ?No verdict: .*wirepath compare before.trace after.trace/.test(seen[0]), seen[0].slice(0, 300));
	check("one section", await browser.ask("document.querySelectorAll('#beside').length") === 1);
	await browser.ask("document.getElementById('b-swap').click()");
	await numbers(browser, "swapped", [sides[1], sides[0]]);
	check("the address knows", /[#&]f=after.html/.test(await browser.ask("location.hash")) && /d=swapped/.test(await browser.ask("location.hash")));
	await browser.open(url("after.html"));
	await choose(browser, "after.html");
	check("a page beside itself is known", await browser.ask("document.getElementById('beside').textContent.includes('Both are the same result')"));
	const cells = await browser.ask(rows("Requests by their first call"));
	check("... and shows no change", cells.every((row) => row[8] === 0 || row[8] === ""), cells[0]);
	check("nothing is requested or said", browser.heard.length === 0, browser.heard);
}

/* A cache that knows everything: nothing behind it is called. */
async function callsGone(browser) {
	await browser.open(url("before.html"));
	await choose(browser, "warm.json");
	const sides = [json("before.json"), json("warm.json")], table = await browser.ask(rows("Calls that one side makes nowhere")) || [];
	const wanted = joined(sides[0].operations, sides[1].operations, nameOf).flatMap(([one, two]) => {
		const places = [one, two].map((own) => (own ? own.tree.map((place, i) => ({ ...place, chain: chain(own.tree, i) })) : []));
		return one && two ? joined(...places, (place) => place.chain).filter(([p, q]) => !p || !q) : [];
	});
	check("calls that are gone", wanted.length > 0 && table.length === wanted.length, [table.length, wanted.length]);
	for (const [p, q] of wanted)
		check("... are told, with how often they were made", table.some((cells) => cells[0].startsWith((p || q).node) && cells[1] === (p ? "before" : "after") &&
			near(cells[2], (p || q).calls_a_request) && near(cells[3], (p || q).self_a_request_ns)), table);
	await numbers(browser, "warm.json", sides);
}

/* Other hosts, and another number of them: nothing pairs, and that is said. */
async function strangers(browser) {
	await browser.open(url("shop.html"));
	await choose(browser, "after.html");
	const words = await browser.ask("document.getElementById('beside').textContent");
	check("few names in common are told", /Only 0% of the requests before/.test(words) && /only before/.test(words) && /only after/.test(words));
	await numbers(browser, "strangers", [json("after.json"), json("shop.json")].sort((a, b) => +a.end_ns - +b.begin_ns));
}

async function lifeCycle(browser) {
	const hash = "location.hash", second = "document.querySelectorAll('details.pair')[1]";
	await browser.open(url("before.html"));
	const plain = await browser.ask("document.body.textContent.length");
	await choose(browser, "after.html");
	check("the heading has the focus", await browser.ask("document.activeElement.textContent") === "Before and after");
	check("a link leads there", await browser.ask("!!document.querySelector('nav a[href=\"#beside\"]')"));
	await browser.ask(second + ".open = true");
	await browser.until("/[&#]e=b-/.test(" + hash + ")");
	const kept = await browser.ask(hash), id = await browser.ask(second + ".id");
	await browser.ask("[...document.querySelectorAll('#beside button')].find(b => b.textContent === 'Remove').click()");
	check("it goes", !await browser.ask(shown) && !await browser.ask("!!document.querySelector('a[href=\"#beside\"]')"));
	check("... from the address, too", await browser.ask(hash) === "", await browser.ask(hash));
	check("... and leaves nothing", Math.abs(await browser.ask("document.body.textContent.length") - plain) < 60);
	check("... but the focus at its button", await browser.ask("document.activeElement.id") === "b-open");
	await choose(browser, "after.json");
	check("it comes again", await browser.ask(shown));
	await browser.open(url("before.html") + kept);
	check("an address names the file that is missing", /made with after.html beside/.test(await browser.ask(said)), await browser.ask(said));
	await choose(browser, "after.html");
	await browser.until(`document.getElementById('${id}').open`);
	check("... and opens again what was open", await browser.ask(`document.getElementById('${id}').open && !!document.querySelector('#${id} table')`));
	await browser.ask("document.querySelector('#beside table.sortable th:nth-child(2) button').click()");
	check("its tables sort, and the address has it", /sort=b0\.1\.1/.test(await browser.ask(hash)), await browser.ask(hash));
	await browser.ask("document.getElementById('b-swap').click(); location.hash = '#p1'");
	await new Promise((done) => setTimeout(done, 200));
	check("it stays when one follows a link", await browser.ask(shown));
	const first = "document.querySelector('#beside tbody td').textContent", swapped = await browser.ask(first);
	await browser.ask("document.getElementById('b-swap').click()");
	check("... and can be swapped back", await browser.ask(first) !== swapped, swapped);
	await browser.ask("document.activeElement.blur(); window.asked = 0; HTMLInputElement.prototype.click = function () { window.asked++; }");
	await browser.press("L");
	check("L asks for a file", await browser.ask("window.asked") === 1);
	await browser.open(url("before.html") + "#f=%00&d=x&e=b-99999&sort=b7.1.1");
	check("nonsense in the address does no harm", await browser.ask("document.documentElement.dataset.ready") === "1" && browser.heard.length === 0, browser.heard);
}

async function drop(browser) {
	const give = (name) => "(() => { const d = new DataTransfer(); " + [].concat(name).map((one) =>
		`d.items.add(new File([${JSON.stringify(fs.readFileSync(file(one), "utf8"))}], ${JSON.stringify(one)}));`).join(" ") +
		"const e = new DragEvent('drop', { dataTransfer: d, bubbles: true, cancelable: true }); document.body.dispatchEvent(new DragEvent('dragenter', { dataTransfer: d, bubbles: true }));" +
		"const marked = document.documentElement.className; document.body.dispatchEvent(e); return [marked, document.documentElement.className, e.defaultPrevented]; })()";
	await browser.open(url("before.html"));
	const seen = await browser.ask(give("after.json"));
	check("a file may be dropped", seen[0] === "drop" && seen[1] === "" && seen[2], seen);
	check("... and is shown", await browser.until(shown));
	await browser.ask(give(["after.json", "after.html"]));
	check("two are too many", /One file at a time/.test(await browser.ask(said)));
}

/* What is said of files that are none, from the table that run wrote: name, and what it has to say. */
async function badFiles(browser) {
	await browser.open(url("before.html"));
	for (const line of fs.readFileSync(file("bad/list"), "utf8").trim().split("\n")) {
		const [name, wanted] = line.split("\t"), words = await choose(browser, path.join("bad", name));
		check("what is said of " + name, new RegExp(wanted).test(words), words);
		check("... with what to do", /wirepath|again|Unpack/.test(words), words);
		check("... and nothing is shown", !await browser.ask(shown));
	}
	await choose(browser, "after.json");
	check("a good one takes the message away", await browser.ask("document.querySelector('[role=alert]').hidden"));
	await choose(browser, "bad/empty.json");
	check("a bad one leaves what was shown", await browser.ask(shown));
	check("bad files make no noise", browser.heard.length === 0, browser.heard);
	await damaged(browser);
}

/* A result of which single members were changed: refused, or shown, never half. */
async function damaged(browser) {
	const good = json("after.json"), values = [null, -1, 1e999, "x", {}, [], [null], 1e300, { count: 1 }];
	const places = [["operations"], ["operations", 0], ["operations", 0, "latency"], ["operations", 0, "tree", 1], ["operations", 0, "tree", 1, "parent"], ["patterns"], ["patterns", 0, "operation"],
		["patterns", 0, "nodes"], ["patterns", 0, "nodes", 1, "parent"], ["self_by_node", 0, "node"], ["comparison"], ["comparison", "operations", 0, "bins"], ["comparison", "nodes"],
		["links"], ["inputs"], ["begin_ns"], ["requests"]];
	for (const place of process.env.WP_TEST_FAST ? places.slice(0, 6) : places)
		for (const value of values) {
			const copy = JSON.parse(JSON.stringify(good)), last = place[place.length - 1];
			place.slice(0, -1).reduce((at, key) => at[key], copy)[last] = value;
			fs.writeFileSync(file("bad/damaged.json"), JSON.stringify(copy));
			const words = await choose(browser, "bad/damaged.json");
			check("damage of " + place.join(".") + " is told or shown", /makes no sense|stands beside/.test(words), [value, words]);
			if (/stands beside/.test(words))
				await browser.ask("document.querySelectorAll('details.pair').forEach(one => { one.open = true; }); 0");
		}
	check("damage makes no noise", browser.heard.length === 0, browser.heard);
}

async function hostileNames(browser) {
	for (const [page, name] of [["before.html", "hostile.json"], ["before.html", "hostile.html"], ["hostile.html", "hostile.json"]]) {
		await browser.open(url(page));
		check(name + " is shown beside " + page, /stands beside/.test(await choose(browser, name)), await browser.ask(said));
		await browser.ask("document.querySelectorAll('#beside details').forEach((one, i) => { one.open = i < 40; }); 0");
		await browser.ask("new Promise(done => setTimeout(done, 50))");
		check("hostile names do nothing", browser.heard.length === 0, browser.heard);
		const bad = await browser.ask("document.querySelectorAll('#beside :is(img, iframe, object, embed, form, script, link, style, [onerror], [onload], [onclick], [onmouseover], a:not([href^=\"#\"]))').length");
		check("... and make no elements", bad === 0, bad);
		check("... and are text", await browser.ask("document.getElementById('beside').textContent.includes('<img src=x onerror=alert(1)>')"));
		const marks = await browser.ask("/[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u200b-\\u200f\\u202a-\\u202e\\u2066-\\u2069]/.test(document.getElementById('beside').outerHTML)");
		check("... without marks that cannot be seen", !marks);
		check("... and no command for a shell", /wirepath compare (BEFORE AFTER|[A-Za-z0-9_.\/ +-]+)$/.test(await browser.ask("document.querySelector('#beside code').textContent")));
		check("... and no wider than the page", await browser.ask("document.documentElement.scrollWidth - innerWidth") <= 0);
	}
}

async function looks(browser) {
	for (const width of [360, 1600])
		for (const dark of [false, true]) {
			await browser.open(url("before.html"), { width, dark });
			await choose(browser, "after.json");
			await browser.ask("document.querySelectorAll('#beside details').forEach(one => { one.open = true; }); 0");
			check("as wide as the window of " + width, await browser.ask("document.documentElement.scrollWidth - innerWidth") <= 0);
		}
	await browser.open(url("before.html"));
	await choose(browser, "after.json");
	await browser.ask("window.dispatchEvent(new Event('beforeprint'))");
	check("what is printed is there", await browser.ask("document.querySelectorAll('details.pair[open] table').length") > 0);
	const ids = await browser.ask("(() => { const all = [...document.querySelectorAll('[id]')].map(e => e.id); return all.filter((id, i) => all.indexOf(id) !== i); })()");
	check("ids are unique", ids.length === 0, ids);
	await browser.open(url("review.html"));
	check("a comparison has no button for it", !await browser.ask("!!document.getElementById('b-open')"));
}

run(program, async (browser) => {
	for (const test of [bothForms, callsGone, strangers, lifeCycle, drop, badFiles, hostileNames, looks])
		await test(browser);
	console.log(failed ? failed + " failed" : "all passed");
	return failed;
});
