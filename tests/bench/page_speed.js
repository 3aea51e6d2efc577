/*
 * How long a page takes in Chromium, as JSON: until it is ready, and what people do there; medians, in ms.
 *
 *   node page_speed.js CHROMIUM PAGE.html ROUNDS
 */
"use strict";

const fs = require("fs");
const path = require("path");
const { Browser } = require(path.join(__dirname, "..", "page", "browser.js"));

const [program, page, rounds] = process.argv.slice(2);

/* Each is run in the page; the time ends when its new layout is known. */
const key = (name) => `document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "${name}", bubbles: true }))`;
const actions = {
	"sort the patterns": "document.querySelector('#pattern-table').tHead.rows[0].cells[3].querySelector('button').click()",
	"find a node": "document.querySelector('input[type=search]').value = 's29'; " + key("n"),
	"find the next": key("n"),
	"close all levels": key("["),
	"open all levels": key("]"),
	"open the last pattern": "[...document.querySelectorAll('details.pattern')].pop().open = true",
	"colour by self time": "(() => { const s = [...document.querySelectorAll('.bar label')].find(l => /Colour/.test(l.textContent)).querySelector('select');" +
		"s.value = 'self'; s.dispatchEvent(new Event('change')); })()",
	"pale what is not sure": "(() => { const r = document.querySelector('input[type=range]'); r.value = '0.9'; r.dispatchEvent(new Event('input')); })()",
	"change the theme": "[...document.querySelectorAll('.bar button')].find(b => b.textContent === 'Theme').click()",
	/* The page itself, dropped on it; the time until it stands there, reading included. */
	"show a second result": "await new Promise(done => { new MutationObserver(() => document.getElementById('beside') && done()).observe(document.querySelector('main')," +
		"{ childList: true }); const d = new DataTransfer(); d.items.add(window.second); document.dispatchEvent(new DragEvent('drop', { dataTransfer: d, cancelable: true })); })",
	"open one of its requests": "(() => { const one = document.querySelector('details.pair'); one.open = true; one.fill(); })()",
	"sort its requests": "document.querySelector('#beside table.sortable th:nth-child(3) button').click()",
	"swap before and after": "document.getElementById('b-swap').click()",
	"remove it": "[...document.querySelectorAll('#beside button')].find(b => b.textContent === 'Remove').click()",
};

function median(values) {
	return values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

(async () => {
	const browser = new Browser(program), times = { ready: [] }, text = fs.readFileSync(page, "utf8");
	await browser.start();
	try {
		for (let round = 0; round < +rounds; round++) {
			const begin = Date.now();
			await browser.open("file://" + fs.realpathSync(page));
			if (await browser.ask("document.documentElement.dataset.ready") !== "1")
				throw new Error("the page is not ready");
			times.ready.push(Date.now() - begin);
			await browser.ask("window.second = new File([" + JSON.stringify(text) + "], 'x.html'); 0");
			for (const [name, action] of Object.entries(actions)) {
				const ms = await browser.ask(`(async () => { document.body.offsetHeight; const begin = performance.now(); ${action}; document.body.offsetHeight; return performance.now() - begin; })()`);
				(times[name] = times[name] || []).push(ms);
			}
		}
	} finally {
		await browser.stop();
	}
	console.log(JSON.stringify(Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)]))));
})().catch((error) => {
	console.error(error.stack);
	process.exit(1);
});
