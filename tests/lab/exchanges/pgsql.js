// traces/protocols/pgsql: clients of one server: simple and extended queries, a pipeline, cursors, COPY both ways, notices,
// notifications, errors in transactions, a cancelled query, refused logins.
// postgres at 127.0.0.1:5439 with the user shop, secret; npm install pg pg-cursor pg-copy-streams; python3-psycopg2;
// postgresql-contrib (pgbench); tcpdump listens to that port.
const { execFileSync } = require("child_process");
const { pipeline } = require("stream/promises");
const { Readable } = require("stream");
const { Client } = require("pg");
const Cursor = require("pg-cursor");
const { from: copyFrom, to: copyTo } = require("pg-copy-streams");

const server = { host: "127.0.0.1", port: 5439, user: "shop", password: "secret", database: "postgres" };
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function timed(what, promise) {
	const begin = process.hrtime.bigint();
	try {
		return await promise();
	} catch (error) {
		what += ` ${error.code}`;
	} finally {
		console.log(`${(Number(process.hrtime.bigint() - begin) / 1e9).toFixed(6)} ${what}`);
	}
}

async function open(more) {
	const client = new Client({ ...server, ...more });
	client.on("error", () => {});
	await timed("connect", () => client.connect());
	return client;
}

async function copies(db) {
	await timed("copy in", () => pipeline(Readable.from(["1\tapple\n", "2\tpear\n", "3\tplum\n"]),
		db.query(copyFrom("COPY items FROM STDIN"))));
	await timed("copy out", async () => {
		for await (const _ of db.query(copyTo("COPY (SELECT i, repeat('x', 50) FROM generate_series(1, 400) i) TO STDOUT")));
	});
	await timed("copy in", () => pipeline(Readable.from(["1\tapple\tone too many\n"]),
		db.query(copyFrom("COPY items FROM STDIN"))));
}

async function main() {
	const db = await open();
	const query = (...more) => timed("query", () => db.query(...more));
	await query("DROP TABLE IF EXISTS items");
	await query("CREATE TABLE items (id INT PRIMARY KEY, name TEXT)");
	await query("INSERT INTO items VALUES (10, 'ten'), (11, 'eleven'); SELECT count(*) FROM items; SELECT 2");
	for (let i = 0; i < 4; i++)
		await query("SELECT id, name FROM items WHERE id > $1 AND name <> $2", [i, "none"]);
	for (let i = 0; i < 3; i++)
		await query({ name: "by-id", text: "SELECT name FROM items WHERE id = $1", values: [i] });
	await query("SELECT nothing FROM nowhere");
	await query("SELECT 1 / $1::int", [0]);
	await query("BEGIN");
	await query("INSERT INTO items VALUES (10, 'again')");
	await query("SELECT 1");
	await query("ROLLBACK");
	await query("DO $$ BEGIN RAISE NOTICE 'look'; END $$");
	await query("SELECT repeat('long', 20000)");
	await query("SELECT pg_sleep(0.02)");
	await copies(db);
	const cursor = db.query(new Cursor("SELECT i FROM generate_series(1, 25) i"));
	for (let i = 0; i < 3; i++)
		await timed("read", () => cursor.read(10));
	await timed("close", () => cursor.close());
	const other = await open();
	await timed("query", () => other.query("LISTEN orders"));
	for (let i = 0; i < 3; i++)
		await query(`NOTIFY orders, 'order ${i}'`);
	await sleep(20);
	const slow = timed("query", () => other.query("SELECT pg_sleep(5)"));
	await sleep(30);
	await query("SELECT pg_cancel_backend($1)", [other.processID]);
	await slow;
	await open({ password: "wrong" });
	await open({ database: "missing" });
	await db.end();
	await other.end();
	execFileSync("/usr/bin/python3", ["-c", `
import psycopg2, threading, time
db = psycopg2.connect(host="127.0.0.1", port=5439, user="shop", password="secret", dbname="postgres", sslmode="disable")
threading.Timer(0.1, db.cancel).start()
try:
    db.cursor().execute("SELECT pg_sleep(3)")
except psycopg2.Error as error:
    db.rollback()
db.close()
`], { stdio: "inherit" });
	execFileSync("sh", ["-c", `d=$(mktemp -d); cd $d; cat > pipe.sql <<'X'
\\startpipeline
SELECT 1;
SELECT id FROM items WHERE id = 10;
SELECT 3;
\\endpipeline
X
$(ls -d /usr/lib/postgresql/*/bin | tail -1)/pgbench -n -M extended -t 3 -f pipe.sql -h 127.0.0.1 -p 5439 -U shop postgres >/dev/null 2>&1
rm -r $d`], { env: { ...process.env, PGPASSWORD: "secret", PGSSLMODE: "disable" } });
}

main();
