// traces/protocols/mysql: clients of one server: text, prepared and several results, a local file, transactions, errors,
// a changed user, compressed; connections behind TLS are in the capture as well.
// mariadbd --local-infile=1 with TLS at 127.0.0.1:3306, database shop, user shop, secret; npm install mysql2;
// mariadb-client; tcpdump listens to that port. With "large": rows and statements over 16 MiB instead.
const { execFileSync } = require("child_process");
const { Readable } = require("stream");
const mysql = require("mysql2/promise");

const large = process.argv[2] === "large";
const port = 3306;
const server = { host: "127.0.0.1", port, user: "shop", password: "secret", database: "shop" };

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

const open = (more) => timed("connect", () => mysql.createConnection({ ...server, ...more }));

async function text(db) {
	const query = (sql, values) => timed("query", () => db.query(sql, values));
	await query("DROP TABLE IF EXISTS items");
	await query("CREATE TABLE items (id INT PRIMARY KEY, name VARCHAR(80), price DECIMAL(8,2), note TEXT)");
	for (let i = 0; i < 5; i++)
		await query("INSERT INTO items VALUES (?, ?, ?, ?)", [i, `item ${i}`, i * 1.5, "x".repeat(i * 40)]);
	await query("SELECT id, name FROM items WHERE price > 2 ORDER BY id");
	await query("SELECT * FROM items WHERE id = -1");
	await query("SELECT 1; UPDATE items SET price = 3 WHERE id = 2; SELECT id FROM items");
	await query("SELECT nothing FROM nowhere");
	await query("SELEC 1");
	await Promise.all([...Array(6).keys()].map((i) => query(`SELECT ${i}, name FROM items WHERE id = ${i}`)));
	await query("BEGIN");
	await query("UPDATE items SET price = price + 1 WHERE id = 1");
	await query("COMMIT");
	await query("CREATE OR REPLACE PROCEDURE both_of() BEGIN SELECT 1; SELECT 2, 3; END");
	await query("CALL both_of()");
	await query(`SELECT SLEEP(0.03)`);
	await timed("query", () => db.query({ sql: "LOAD DATA LOCAL INFILE 'items.csv' INTO TABLE items FIELDS TERMINATED BY ','",
		infileStreamFactory: () => Readable.from(["100,apple,1.0,a\n101,pear,2.0,b\n", "102,plum,3.0,c\n"].map((line) => Buffer.from(line))) }));
	await query("SELECT COUNT(*) FROM items");
	await query("SELECT REPEAT('long', 20000)");
	await timed("ping", () => db.ping());
}

async function prepared(db) {
	const sql = "SELECT id, name FROM items WHERE id > ? AND name LIKE ?";
	for (let i = 0; i < 4; i++)
		await timed("execute", () => db.execute(sql, [i, "item%"]));
	await timed("execute", () => db.execute("INSERT INTO items (id, name) VALUES (?, ?)", [50, "fifty"]));
	await timed("execute", () => db.execute("INSERT INTO items (id, name) VALUES (?, ?)", [50, "again"]));
	await timed("execute", () => db.execute("SELECT broken FROM items WHERE id = ?", [1]));
	const statement = await timed("prepare", () => db.prepare("UPDATE items SET name = ? WHERE id = ?"));
	for (let i = 0; i < 3; i++)
		await timed("execute", () => statement.execute([`name ${i}`, i]));
	await statement.close();
	await timed("change user", () => db.changeUser({ user: "nobody", password: "", database: "" }));
	await timed("query", () => db.query("SELECT CURRENT_USER()"));
}

function client(...more) {
	const begin = process.hrtime.bigint();
	execFileSync("mariadb", ["-h127.0.0.1", `-P${port}`, "-ushop", "-psecret", "shop", ...more], { stdio: "ignore" });
	console.log(`${(Number(process.hrtime.bigint() - begin) / 1e9).toFixed(6)} mariadb`);
}

async function main() {
	const db = await open({ multipleStatements: true });
	if (large) {
		await timed("query", () => db.query("SELECT LENGTH(?)", ["y".repeat(17000000)]));
		await timed("query", () => db.query("SELECT REPEAT('z', 17000000)"));
		await timed("execute", () => db.execute("SELECT LENGTH(?)", ["y".repeat(16777215 - 30)]));
		await timed("query", () => db.query("SELECT 1"));
	} else {
		await text(db);
		await prepared(db);
		await open({ password: "wrong" });
		const packed = await open({ compress: true });
		for (let i = 0; i < 4; i++)
			await timed("query", () => packed.query("SELECT id, name, REPEAT('abc', 600) FROM items"));
		await timed("execute", () => packed.execute("SELECT ? + 1", [41]));
		await timed("query", () => packed.query("SELECT nothing"));
		await packed.end();
		client("-e", "SELECT id FROM items; SHOW TABLES");
		client("--compress", "-e", "SELECT * FROM items");
		client("--ssl", "-e", "SELECT 1");
	}
	await db.end();
}

main();
