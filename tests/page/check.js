/*
 * A page in Chromium: what it must not do, what its controls do, that its numbers are those of the JSON form.
 *
 *   node check.js CHROMIUM PAGE.html PAGE.json HOSTILE.html REVIEW.html REVIEW.json HOSTILE-REVIEW.html
 */
"use strict";

const fs = require("fs");
const { run } = require("./browser.js");

const [program, page, json, hostile, reviewPage, reviewJson, hostileReview] = process.argv.slice(2);
const report = JSON.parse(fs.readFileSync(json, "utf8"));
const url = "file://" + fs.realpathSync(page);
let failed = 0;

function check(what, ok, seen) {
	if (!ok) {
		failed++;
		console.log("FAIL: " + what + (seen === undefined ? "" : ": " + JSON.stringify(seen)));
	}
}

/* Where one is: pattern and row. */
const place = "[...document.querySelectorAll('tr.at')].map(r => r.id).join()";

async function quiet(browser) {
	await quietPage(browser, url);
}

async function quietPage(browser, address) {
	await browser.open(address);
	check("the script ran to its end", await browser.ask("document.documentElement.dataset.ready") === "1");
	check("nothing is requested or said", browser.heard.length === 0, browser.heard);
	const ids = await browser.ask("(() => { const all = [...document.querySelectorAll('[id]')].map(e => e.id);" +
		"return all.filter((id, i) => all.indexOf(id) !== i); })()");
	check("ids are unique", ids.length === 0, ids);
	const dead = await browser.ask("[...document.querySelectorAll('a[href^=\"#\"]')].filter(a =>" +
		"!document.getElementById(a.getAttribute('href').slice(1))).length");
	check("links lead somewhere", dead === 0, dead);
}

/* Of each pattern in the table, and each row of its tree. */
async function numbers(browser) {
	const rows = await browser.ask("[...document.querySelectorAll('#pattern-table tbody tr')].map(r =>" +
		"[...r.cells].map(c => c.dataset.v === undefined ? null : +c.dataset.v))");
	check("every pattern has a row", rows.length === Math.min(500, report.patterns.length), rows.length);
	rows.forEach((cells, i) => {
		const pattern = report.patterns[i], latency = pattern.nodes[0].latency;
		const wanted = [pattern.rank, null, pattern.share, pattern.count, pattern.errors, pattern.total_ns];
		wanted.forEach((value, k) => check("pattern " + (i + 1) + ", column " + k,
			value === null || Math.abs(cells[k] - value) < 1e-6 * Math.max(1, value), [cells[k], value]));
		[[6, "mean_ns"], [7, "sd_ns"], [8, "p50_ns"], [9, "p95_ns"], [10, "p99_ns"]].forEach(([k, name]) => {
			if (latency.count)
				check("pattern " + (i + 1) + " " + name, Math.abs(cells[k] - latency[name]) <= 1, [cells[k], latency[name]]);
		});
	});
	const nodes = await browser.ask("[...document.querySelectorAll('table.tree')].map(t => [...t.tBodies[0].rows].map(r =>" +
		"Object.fromEntries([...r.cells].map((c, i) => [t.tHead.rows[0].cells[i].dataset.k, c.dataset.v === undefined ? null : +c.dataset.v]))))");
	nodes.forEach((tree, i) => tree.forEach((row, k) => {
		const node = report.patterns[i].nodes[k];
		check("calls of a node", row.count === node.count, [row.count, node.count]);
		check("errors of a node", row.errors === undefined || row.errors === node.errors, [row.errors, node.errors]);
		if (node.latency.count) {
			check("mean of a node", Math.abs(row.mean - node.latency.mean_ns) <= 1, [row.mean, node.latency.mean_ns]);
			check("p99 of a node", Math.abs(row.p99 - node.latency.p99_ns) <= 1, [row.p99, node.latency.p99_ns]);
		}
	}));
}

async function tails(browser) {
	const rows = await browser.ask("[...document.querySelectorAll('#tail tbody tr')].map(r => [...r.cells].map(c => +c.dataset.v))");
	check("every tail has a row", rows.length === report.tails.length, rows.length);
	rows.forEach((cells, i) => {
		const tail = report.tails[i];
		const wanted = [tail.count, tail.slow, tail.median_ns, tail.slow_from_ns, tail.slow_mean_ns, tail.max_ns, tail.excess_ns];
		wanted.forEach((value, k) => check("tail " + i + ", column " + k, cells[k + 1] === value, [cells[k + 1], value]));
	});
}

async function keyboard(browser) {
	await browser.open(url);
	await browser.press("/");
	check("/ goes to the find field", await browser.ask("document.activeElement.type") === "search");
	/* The last node of the last tree: in a pattern that is closed. */
	const last = report.patterns.length > 50 ? 49 : report.patterns.length - 1;
	const wanted = report.patterns[last].nodes[report.patterns[last].nodes.length - 1].node;
	await browser.type(wanted);
	await browser.press("Enter");
	const count = await browser.ask("document.querySelector('[role=status]').textContent");
	check("matches are counted", /^match 1 of [1-9]/.test(count), count);
	await browser.ask("document.activeElement.blur()");
	const first = await browser.ask(place);
	await browser.press("N");
	const previous = await browser.ask(place);
	const open = "document.querySelector('tr.at').closest('details.pattern').open && !document.querySelector('tr.at').hidden";
	check("N finds the last match, and opens where it is", await browser.ask(open), previous);
	await browser.press("n");
	check("n comes back", await browser.ask(place) === first);
	await browser.press("Home");
	const root = await browser.ask(place);
	check("Home goes to the root", /n0$/.test(root), root);
	await browser.press("[");
	const shown = "[...document.querySelector('tr.at').parentNode.rows].filter(r => !r.hidden).length";
	check("[ closes all", await browser.ask(shown) === 1);
	check("... and says so", await browser.ask("document.querySelector('tr.at').getAttribute('aria-expanded')") === "false");
	await browser.press("ArrowRight");
	check("Right opens", await browser.ask(shown) > 1);
	await browser.press("ArrowDown");
	check("Down goes on", /n1$/.test(await browser.ask(place)));
	await browser.press("]");
	const all = await browser.ask(shown);
	await browser.press("r");
	check("r makes it the root", await browser.ask(shown) < all || all <= 2);
	await browser.press("R");
	check("R takes the whole again", await browser.ask(shown) === all);
	await browser.press("1");
	check("1 opens one level", await browser.ask(shown) >= 2);
	await browser.press("Enter");
	check("Enter opens the window of the node", await browser.ask("[...document.querySelectorAll('.panel')].some(p => !p.hidden && p.getAttribute('aria-label') === 'Node')"));
	await browser.press("Escape");
	check("Escape closes it", await browser.ask("[...document.querySelectorAll('.panel')].every(p => p.hidden)"));
	await browser.press("?");
	check("? shows the keys", await browser.ask("[...document.querySelectorAll('.panel')].some(p => !p.hidden)"));
	await browser.press("Escape");
	check("the keyboard makes no noise", browser.heard.length === 0, browser.heard);
}

async function address(browser) {
	await browser.open(url + "#p=1&n=1&q=" + encodeURIComponent(report.patterns[0].nodes[0].node) + "&c=self&s=count&w=total&t=dark");
	check("the address restores the row", await browser.ask(place) === "p1n1", await browser.ask(place));
	check("... the mapper", await browser.ask("document.querySelectorAll('table.tree .glyph').length") > 0);
	check("... the theme", await browser.ask("document.documentElement.dataset.theme") === "dark");
	check("... the search", await browser.ask("document.querySelector('input[type=search]').value") === report.patterns[0].nodes[0].node);
	await browser.open(url + "#p=x&n=-4&q=%E0%A4%A&sort=9.9.9&c=zzz&r=1e9");
	check("nonsense in the address does no harm", browser.heard.length === 0 &&
		await browser.ask("document.documentElement.dataset.ready") === "1", browser.heard);
}

async function drawings(browser) {
	await browser.open(url);
	await browser.ask("document.querySelector('details.request[open] svg.timeline').scrollIntoView()");
	await browser.press("+");
	const box = "document.querySelector('details.request[open] svg.bars').getAttribute('viewBox')";
	const zoomed = await browser.ask(box);
	check("+ zooms in", / 5000 /.test(zoomed), zoomed);
	await browser.press("0");
	check("0 shows the whole", / 10000 /.test(await browser.ask(box)));
	await browser.ask("document.querySelector('svg.flame').focus()");
	await browser.press("ArrowDown");
	await browser.press("Enter");
	check("a frame can be chosen and zoomed by keys", await browser.ask("document.querySelectorAll('.frame.at').length") === 1);
	check("sorting sorts", await browser.ask("(() => { const t = document.querySelector('#pattern-table');" +
		"t.tHead.rows[0].cells[3].querySelector('button').click(); const v = [...t.tBodies[0].rows].map(r => +r.cells[3].dataset.v);" +
		"return v.every((x, i) => !i || v[i - 1] >= x) && t.tHead.rows[0].cells[3].getAttribute('aria-sort') === 'descending'; })()"));
	check("drawings make no noise", browser.heard.length === 0, browser.heard);
}

/* Without scripts, and narrow: everything is there, and only tables and drawings are wider than the page. */
async function plain(browser) {
	await browser.open(url, { scripts: false });
	check("nothing of the script is there", await browser.ask("document.querySelectorAll('.bar').length") === 0);
	check("tables are", await browser.ask("document.querySelectorAll('table.tree tr').length") > 1);
	for (const width of [360, 1600])
		for (const dark of [false, true]) {
			await browser.open(url, { width, dark });
			const over = await browser.ask("document.documentElement.scrollWidth - innerWidth");
			check("the page is as wide as the window of " + width, over <= 0, over);
		}
}

/* A comparison: as quiet, and with the numbers of its JSON form. */
async function review(browser) {
	const wanted = JSON.parse(fs.readFileSync(reviewJson, "utf8")), address = "file://" + fs.realpathSync(reviewPage);
	await quietPage(browser, address);
	const rows = await browser.ask("[...document.querySelectorAll('#operation-table tbody tr')].map(r =>" +
		"[...r.cells].map(c => c.dataset.v === undefined ? c.textContent : +c.dataset.v))");
	check("every operation has a row", rows.length === wanted.operations.length, rows.length);
	rows.forEach((cells, i) => {
		const one = wanted.operations[i];
		const values = [...one.requests, ...one.mean_ns, null, one.tests.latency.change, null, ...one.errors, one.contribution_ns];
		values.forEach((value, k) => check("operation " + (i + 1) + ", column " + (k + 1),
			value === null || Math.abs(cells[k + 1] - value) <= Math.max(1e-6, 1e-6 * Math.abs(value)) || Math.abs(cells[k + 1] - value) < 1 && value > 1000,
			[cells[k + 1], value]));
	});
	const parts = await browser.ask("[...document.querySelectorAll('details.pattern')].map(d => [...d.querySelector('tbody').rows].map(r =>" +
		"[...r.cells].map(c => c.dataset.v === undefined ? c.textContent : +c.dataset.v)))");
	check("every operation has its nodes", parts.length === wanted.operations.length, parts.length);
	parts.forEach((table, i) => table.forEach((cells, k) => {
		const part = wanted.operations[i].parts[k];
		check("node of a part", cells[0].startsWith(part.node), [cells[0], part.node]);
		check("calls a request", part.calls_a_request.every((x, side) => Math.abs(cells[1 + side] - x) < 1e-4), [cells, part.calls_a_request]);
		check("self time", part.self_ns.every((x, side) => Math.abs(cells[4 + side] - x) < 1), [cells, part.self_ns]);
	}));
	for (const width of [360, 1600])
		for (const dark of [false, true]) {
			await browser.open(address, { width, dark });
			const over = await browser.ask("document.documentElement.scrollWidth - innerWidth");
			check("the review is as wide as the window of " + width, over <= 0, over);
		}
}

/* A table of hundreds of rows: the first hundred in the order chosen, or all. */
async function longTable(browser) {
	await browser.open("file://" + fs.realpathSync(hostile));
	const table = "document.querySelector('#pattern-table')";
	const shown = table + ".tBodies[0].rows.length + ' ' + [..." + table + ".tBodies[0].rows].filter(r => r.offsetHeight).length";
	const ask = table + ".parentNode.nextElementSibling.querySelector('button').click(); " + shown;
	const [all, few] = (await browser.ask(shown)).split(" ");
	check("a long table is short", +all > 120 && +few === 100, [all, few]);
	await browser.ask(table + ".tHead.rows[0].cells[0].querySelector('button').click()");
	check("... also when it is sorted", await browser.ask(shown) === all + " 100");
	check("... until all rows are asked for", await browser.ask(ask) === all + " " + all);
	check("... and again", await browser.ask(ask) === all + " 100");
}

async function hostileNames(browser) {
	for (const one of [hostile, hostileReview])
		await hostilePage(browser, one);
}

async function hostilePage(browser, file) {
	await browser.open("file://" + fs.realpathSync(file));
	check("hostile names do nothing", browser.heard.length === 0, browser.heard);
	const bad = await browser.ask("document.querySelectorAll('img, iframe, object, embed, form, script[src], link, [onerror], [onload], [onclick], a:not([href^=\"#\"])').length");
	check("... and make no elements", bad === 0, bad);
	check("... and are text", await browser.ask("document.body.textContent.includes('<img src=x onerror=alert(1)>')"));
	const marks = await browser.ask("/[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u200b-\\u200f\\u202a-\\u202e\\u2066-\\u2069]/.test(document.documentElement.outerHTML)");
	check("... without marks that cannot be seen", !marks);
	check("... and no wider than the page", await browser.ask("document.documentElement.scrollWidth - innerWidth") <= 0);
}

run(program, async (browser) => {
	for (const test of [quiet, numbers, tails, keyboard, address, drawings, plain, review, longTable, hostileNames])
		await test(browser);
	console.log(failed ? failed + " failed" : "all passed");
	return failed;
});
