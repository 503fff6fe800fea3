//! Queries that only read, as people and agents write them, and queries that do not, in every dialect and disguise.
//!
//! The tables are one query a line, with a line break written as `\n`; empty lines and lines that begin with `%%` say what follows.

use serde_json::{Value, json};
use switchboard_protocol::mgp::ValidatorName::Readonly;

use crate::common::{assert_honest, assert_hostile, check, checks, checks_from};

const HONEST: &str = include_str!("../tables/queries-honest.txt");
const HOSTILE: &str = include_str!("../tables/queries-hostile.txt");
const STATEMENTS_HONEST: &str = include_str!("../tables/statements-honest.txt");
const STATEMENTS_HOSTILE: &str = include_str!("../tables/statements-hostile.txt");
const SEARCHES: &str = include_str!("../tables/searches-honest.txt");

fn lines(table: &str) -> Vec<String> {
    let lines = table.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("%%"));
    lines.map(|line| line.replace("\\n", "\n").replace("\\r", "\r")).collect()
}

fn passes(tool: &Value, arguments: &Value) -> bool {
    check(&checks(&[Readonly], tool, &[]), arguments).is_ok()
}

fn database() -> Value {
    json!({"name": "query", "description": "Runs a query on the database"})
}

/// The keys that tools take queries under.
fn shapes(query: &str) -> Vec<Value> {
    vec![
        json!({"sql": query}),
        json!({"query": query}),
        json!({"q": query}),
        json!({"statement": query}),
        json!({"stmt": query}),
        json!({"queries": ["select 1", query]}),
        json!({"statements": [query]}),
        json!({"batch": [{"sql": query}]}),
        json!({"text": query}),
        json!({"options": {"expression": query}}),
    ]
}

#[test]
fn honest_queries_pass_under_every_key() {
    let table = lines(HONEST);
    assert!(table.len() >= 100, "{}", table.len());
    let mut refused = Vec::new();
    for query in &table {
        for arguments in shapes(query) {
            if !passes(&database(), &arguments) {
                refused.push(arguments.to_string());
            }
        }
    }
    assert!(refused.is_empty(), "{} refused:\n{}", refused.len(), refused.join("\n"));
}

#[test]
fn hostile_queries_are_refused_under_every_key_of_a_query() {
    let table = lines(HOSTILE);
    assert!(table.len() >= 100, "{}", table.len());
    let mut passed = Vec::new();
    for query in &table {
        for arguments in shapes(query).into_iter().take(8) {
            if passes(&database(), &arguments) {
                passed.push(arguments.to_string());
            }
        }
    }
    assert!(passed.is_empty(), "{} passed:\n{}", passed.len(), passed.join("\n"));
}

fn answer(statement: &str, only_reading: bool) -> &'static str {
    match switchboard_validators::arguments::check_statement(statement, only_reading) {
        Ok(()) => "allow",
        Err(finding) if finding.asks() => "ask",
        Err(_) => "block",
    }
}

#[test]
fn statements_that_read_are_understood_in_nine_dialects() {
    let table = lines(STATEMENTS_HONEST);
    assert!(table.len() >= 100, "{}", table.len());
    let refused: Vec<_> = table.iter().filter(|statement| answer(statement, true) == "block").collect();
    assert!(refused.is_empty(), "{refused:#?}");
    let asked: Vec<_> = table.iter().filter(|statement| answer(statement, true) == "ask").collect();
    assert!(asked.len() * 10 <= table.len(), "{asked:#?}");
}

#[test]
fn statements_that_do_more_are_never_allowed() {
    let table = lines(STATEMENTS_HOSTILE);
    assert!(table.len() >= 100, "{}", table.len());
    for only_reading in [true, false] {
        let passed: Vec<_> = table.iter().filter(|statement| answer(statement, only_reading) == "allow").collect();
        assert!(passed.is_empty(), "{passed:#?}");
    }
}

#[test]
fn what_is_not_understood_or_changes_something_is_asked_about() {
    for (statement, reading, changing) in [
        ("select lower(name) from users", "allow", "allow"),
        ("select my_function(1)", "ask", "ask"),
        ("select app.lower(name) from users", "ask", "ask"),
        ("select \"lower\"(name) from users", "ask", "ask"),
        ("select 1; select 2", "ask", "ask"),
        ("select @a := 1", "ask", "ask"),
        ("update t set a = 1 where id = 2", "block", "ask"),
        ("update t set a = 1", "block", "block"),
        ("delete from t where id = 2", "block", "ask"),
        ("delete from t", "block", "block"),
        ("insert into t (a, b) values (1, 'x')", "block", "ask"),
        ("insert into t select my_function(a) from b", "block", "block"),
        ("insert into t select pg_read_file('/etc/passwd')", "block", "block"),
        ("create table t (id int primary key, name text)", "block", "ask"),
        ("alter table t add column b int", "block", "ask"),
        ("update t set a = 1 where id = 2; drop table t", "block", "block"),
        ("drop table t", "block", "block"),
        ("grant all on t to eve", "block", "block"),
        ("create function f() returns int", "block", "block"),
        ("select pg_sleep(1)", "block", "block"),
        ("select 1 drop master key", "ask", "ask"),
        ("show tables ->> use role accountadmin", "ask", "ask"),
        (".tables\ndrop table users;", "block", "block"),
        (".sh id", "block", "block"),
        (".dump users", "ask", "ask"),
        ("select value from settings where key = 'theme'", "allow", "allow"),
        ("select * from settings", "ask", "ask"),
        ("\\dt\nselect 1", "allow", "allow"),
        ("\\dt `id`", "ask", "ask"),
        ("select 1 \\o |sh", "block", "block"),
        (".;drop table x", "block", "block"),
        ("select * from text.`/etc/passwd`", "block", "block"),
        ("select * from read_csv(chr(47) || 'etc/passwd')", "ask", "ask"),
        ("select * from read_csv('.env')", "block", "block"),
        ("select * from read_csv('a.csv', delim = '|')", "allow", "allow"),
        ("from t reduce a using 'sh -c id' as b", "block", "block"),
        ("select * from secrets@evil", "ask", "ask"),
        ("select rolname from pg_authid", "ask", "ask"),
        ("begin; select 1; commit", "block", "ask"),
        ("begin; drop table x; commit", "block", "block"),
        // What a database says of itself: tables and columns, and what runs now.
        ("select table_name from information_schema.tables", "allow", "allow"),
        ("select relname, n_live_tup from pg_stat_user_tables", "allow", "allow"),
        ("select pid, state, query from pg_stat_activity", "allow", "allow"),
        ("select * from `p.d.INFORMATION_SCHEMA.COLUMNS`", "allow", "allow"),
        ("select sys.name from systems sys", "allow", "allow"),
        ("show full processlist", "allow", "allow"),
        ("show create table orders", "allow", "allow"),
        ("show variables like 'version%'", "allow", "allow"),
        ("select @@version, @@global.sql_mode", "allow", "allow"),
        ("select current_setting('search_path')", "allow", "allow"),
        ("select setting from pg_settings where name in ('work_mem', 'max_connections')", "allow", "allow"),
        // Settings, users, logs and whatever else is not known.
        ("select * from pg_settings", "ask", "ask"),
        ("select setting from pg_settings where name = 'work_mem' or true", "ask", "ask"),
        ("select current_setting('app.jwt_secret')", "ask", "ask"),
        ("show primary_conninfo", "ask", "ask"),
        ("show all", "ask", "ask"),
        ("show create user root", "ask", "ask"),
        ("show variables like '%key%'", "ask", "ask"),
        ("select @@ssl_key", "ask", "ask"),
        ("select * from mysql.slave_master_info", "ask", "ask"),
        ("select * from performance_schema.some_new_view", "ask", "ask"),
        ("select * from information_schema.user_mapping_options", "ask", "ask"),
        ("select * from \"pg_catalog\".\"pg_some_new_view\"", "ask", "ask"),
        ("select * from t sys, sys.syslogins", "ask", "ask"),
        ("select password from dba_users", "ask", "ask"),
        ("select * from system.query_log", "ask", "ask"),
        ("select * from msdb..backupset", "ask", "ask"),
        ("select * from msdb.dbo.sysjobs", "ask", "ask"),
        ("select * from only \"pg_authid\"", "ask", "ask"),
        ("select * from (\"pg_authid\" a join t on true)", "ask", "ask"),
        ("select * from u&\"\\0070g_authid\"", "ask", "ask"),
        ("select id, \"password\" from users", "ask", "ask"),
        ("select command from cron.job", "ask", "ask"),
        // Columns of passwords and keys, where they are shown.
        ("select email, encrypted_password from users", "ask", "ask"),
        ("select count(*) from users where password is null", "allow", "allow"),
        ("select password_changed_at from users", "allow", "allow"),
        ("select * except (password_hash) from users", "allow", "allow"),
        // Files that are called like data, and others.
        ("select * from 'sales.parquet'", "allow", "allow"),
        ("select * from read_json('logs/*.json')", "allow", "allow"),
        ("select * from read_csv('?env')", "ask", "ask"),
        ("select * from read_json('credentials.json')", "ask", "ask"),
        ("select * from \"secrets.csv\"", "ask", "ask"),
        ("select * from read_csv('id_rsa')", "ask", "ask"),
        // Functions without brackets, and queries without measure.
        ("select sysdate from dual", "allow", "allow"),
        ("select purge_orders from dual", "ask", "ask"),
        ("select repeat(repeat('x', 90000), 90000)", "ask", "ask"),
        ("select count(*) from generate_series(1, 99999) a, generate_series(1, 99999) b", "ask", "ask"),
        ("select count(*) from generate_series(1, 10^9)", "ask", "ask"),
        ("with t as (select 1 n union all select n + 1 from t) select n from t option (maxrecursion 0)", "ask", "ask"),
        ("select generate_series(1, 1000)", "allow", "allow"),
        ("select 1 from a, b, c", "ask", "ask"),
        ("select 1 from a, b, c where a.x = b.x", "allow", "allow"),
        ("select 'aaa' regexp '^(a+)+$'", "ask", "ask"),
        ("pragma enable_external_access", "ask", "ask"),
        ("pragma user_version", "allow", "allow"),
        ("unpivot t on a, b into name n value v", "allow", "allow"),
    ] {
        assert_eq!(answer(statement, true), reading, "{statement}");
        assert_eq!(answer(statement, false), changing, "{statement}");
    }
}

/// Time grows with the length of a statement and no faster, and what is too long is asked about, never let pass.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test measures how long it takes")]
fn long_statements_are_judged_in_time() {
    for (unit, start, end) in [
        ("'a',", "select * from t where x in (", "'b')"),
        ("'/a',", "select * from t where x in (", "'b')"),
        ("'a'||", "select ", "'b'"),
        ("t,", "select * from ", "t where a = 1"),
        ("(", "select ", "1"),
        ("abs(", "select ", "1"),
        ("repeat(", "select ", "1"),
        ("read_csv(", "select * from ", "1"),
        ("update x ", "select ", "1"),
        ("case when a then ", "select ", "1"),
        ("t sys.", "select ", "1"),
        ("@@version,", "select ", "1"),
        ("* except (", "select ", "1"),
    ] {
        let text = format!("{start}{}{end}", unit.repeat(200_000 / unit.len()));
        let begun = std::time::Instant::now();
        let _ = answer(&text, true);
        // The files that it names are looked for too.
        let _ = check(&checks(&[Readonly], &database(), &[json!({"paths": ["/srv/ok/**"]})]), &json!({"sql": text}));
        assert!(begun.elapsed().as_secs() < 10, "{unit}: {:?}", begun.elapsed());
    }
    let long = format!("select '{}'", "a".repeat(switchboard_validators::arguments::MAX_STATEMENT_BYTES));
    assert!(!passes(&database(), &json!({"sql": long})));
    assert_eq!(answer(&long, true), "block");
}

#[test]
fn searches_in_plain_words_pass() {
    let search = json!({"name": "search_docs", "description": "Searches the documentation"});
    let refused: Vec<String> =
        lines(SEARCHES).into_iter().filter(|query| !passes(&search, &json!({"query": query, "q": query}))).collect();
    assert!(refused.is_empty(), "refused:\n{}", refused.join("\n"));
    // A tool that asks a database in plain words.
    let asks = json!({"name": "ask", "description": "Answers a question about the PostgreSQL database"});
    let question = "how many users deleted their account last week?";
    assert!(passes(&asks, &json!({"query": question})));
}

#[test]
fn documents_and_pipelines_of_mongodb() {
    let mongo = json!({"name": "aggregate", "description": "Runs a pipeline on MongoDB"});
    let refused = [
        json!({"pipeline": [{"$match": {}}, {"$out": "users"}]}),
        json!({"pipeline": [{"$merge": {"into": "users"}}]}),
        json!({"filter": {"$where": "sleep(10000)"}}),
        json!({"pipeline": "[{\"$match\": {}}, {\"$out\": \"users\"}]"}),
        json!({"command": {"delete": "users", "deletes": [{"q": {}, "limit": 0}]}}),
        json!({"command": {"insert": "users", "documents": [{}]}}),
        json!({"command": {"findAndModify": "users", "remove": true}}),
        json!({"command": {"dropDatabase": 1}}),
        json!({"query": "db.users.deleteMany({})"}),
        json!({"query": "db.users.find().forEach(u => db.users.remove({_id: u._id}))"}),
        json!({"query": "db[\"users\"].drop()"}),
        json!({"query": "db.users[\"drop\"]()"}),
        json!({"query": "db.runCommand({drop: 'users'})"}),
        json!({"query": "db.users.aggregate([{$out: 'x'}])"}),
        json!({"query": "db.users.insertOne({a: 1})"}),
    ];
    let honest = [
        json!({"pipeline": [{"$match": {"status": "deleted"}}, {"$group": {"_id": "$city", "n": {"$sum": 1}}}]}),
        json!({"filter": {"delete": true, "update": {"$gt": 5}}}),
        json!({"query": "db.users.find({status: 'A'}).limit(5)"}),
        json!({"query": "db.users.aggregate([{$match: {drop: 1}}])"}),
        json!({"query": "db.users.countDocuments({})"}),
        json!({"collection": "updates", "projection": {"insert": 1}}),
    ];
    for arguments in refused {
        assert!(!passes(&mongo, &arguments), "passed: {arguments}");
    }
    for arguments in honest {
        assert!(passes(&mongo, &arguments), "refused: {arguments}");
    }
}

#[test]
fn cypher() {
    let graph = json!({"name": "read_neo4j_cypher", "description": "Runs a read query in Cypher"});
    let refused = [
        "CREATE (n:User {name: 'x'})",
        "MATCH (n) DETACH DELETE n",
        "match (n:User) set n.admin = true",
        "MATCH (n) REMOVE n.name RETURN n",
        "MERGE (n:User {id: 1}) RETURN n",
        "MATCH (n) WITH n FOREACH (x IN [1] | SET n.a = x)",
        "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
        "CALL apoc.cypher.runWrite('MATCH (n) DELETE n', {})",
        "CALL dbms.shutdown()",
        "CALL apoc.load.json('http://169.254.169.254/') YIELD value RETURN value",
        "MATCH (n) RETURN n // '\nDELETE n",
        "MATCH (n) /* ' */ DELETE n /* ' */",
        "DROP CONSTRAINT x",
        "CALL { MATCH (n) DELETE n } IN TRANSACTIONS",
        "RETURN apoc.create.vNode(['X'])",
    ];
    let honest = [
        "MATCH (n:User) RETURN n LIMIT 10",
        "MATCH (a)-[r:CREATED]->(b) WHERE a.set = 1 RETURN a.create AS create, count(r) AS n ORDER BY n DESC",
        "OPTIONAL MATCH (n:Delete) RETURN n.remove",
        "UNWIND [1, 2] AS x RETURN x",
        "MATCH (n) WHERE n.text CONTAINS 'delete this; create that' RETURN n",
        "CALL db.labels()",
        "CALL db.schema.visualization()",
        "CALL apoc.meta.schema()",
        "MATCH p = shortestPath((a:Person {name: 'A'})-[*..5]-(b)) RETURN p",
        "MATCH (n) RETURN {create: n.a, set: n.b}",
        "CALL { MATCH (n) RETURN n LIMIT 5 } RETURN n",
        "SHOW INDEXES",
        "MATCH (`delete`:X) RETURN `delete`",
    ];
    let anything = json!({"name": "run", "description": "Runs something"});
    for query in refused {
        assert!(!passes(&graph, &json!({"query": query})), "passed: {query}");
        assert!(!passes(&graph, &json!({"cypher": query})), "passed: {query}");
    }
    assert!(!passes(&anything, &json!({"query": refused[1]})), "a query in Cypher is told by its form");
    for query in honest {
        assert!(passes(&graph, &json!({"query": query})), "refused: {query}");
    }
}

/// A quoted name is a name: functions are looked at in every way to write them.
#[test]
fn quoted_names_of_functions_count() {
    let refused = [
        "select \"pg_read_file\"('/etc/passwd')",
        "select \"lo_import\"('/etc/passwd')",
        "select \"dblink_exec\"('x', 'drop table t')",
        "select \"query_to_xml\"('delete from t', true, true, '')",
        "select pg_catalog.\"pg_sleep\"(5)",
        "select \"pg_catalog\".\"pg_sleep\"(1)",
        "select [load_extension]('x')",
        "select `load_extension`('x')",
        "select \"getenv\"('HOME')",
        "select \"Setval\" ('s', 1)",
        "select U&\"pg\\005fsleep\"(5)",
        "select * from \"read_text\"('/etc/passwd')",
        "select * from query('select content from read_text(''/etc/passwd'')')",
        "select * from query_table('/etc/passwd')",
        "select * from pragma_journal_mode('delete')",
        "select * from pragma_wal_checkpoint",
        "select \"utl_http\".request('http://x.example') from dual",
        "select cron.schedule('x', '* * * * *', 'delete from t')",
        "select s.nextval from dual",
        "select drop_chunks('t')",
        "select pg_sleep\u{a0}(1)",
        "select 1 shutdown",
        "select * from t checkpoint",
        "select (1) reconfigure",
        "select 1 begin tran",
        "select * from t with (tablockx, holdlock)",
        "{call p()}",
        "{? = call p(1)}",
        "select 1; {call p()}",
    ];
    let honest = [
        "select \"sleep\", \"edit\" from \"remote\"",
        "select \"Name\" from \"user\" where \"update\" = 'x'",
        "select [dbo].[Orders].[Total] from [dbo].[Orders]",
        "select count(\"sleep\") from t",
        "select checkpoint, revert from t",
        "select a from checkpoint",
        "select a from t order by revert",
        "select * from t with (nolock)",
        "select * from pragma_table_info('t')",
        "select nextval from sequences",
        "select query from pg_stat_statements",
        "select cron from jobs",
        "with \"t\" (a) as (select 1) select a from \"t\"",
        "select schedule, eval from plans",
    ];
    for query in refused {
        assert!(!passes(&database(), &json!({"sql": query})), "passed: {query}");
    }
    for query in honest {
        assert!(passes(&database(), &json!({"sql": query})), "refused: {query}");
    }
}

/// Pieces of statements begin with anything; what they end or hide is found behind it.
#[test]
fn pieces_of_statements() {
    let rows = json!({"name": "list_rows", "description": "List rows of a postgres table"});
    let refused = [
        json!({"limit": "5; drop table t"}),
        json!({"limit": "5;delete from t"}),
        json!({"offset": "0; update t set a=1"}),
        json!({"order_by": "1; drop table t"}),
        json!({"table": "\"t\"; drop table t"}),
        json!({"table": "t union select pg_read_file('/etc/passwd')"}),
        json!({"where": "1=1; delete from t"}),
        json!({"where": "1=1;drop table t--"}),
        json!({"where": "1=1);delete from t--"}),
        json!({"where": ");delete from t--"}),
        json!({"where": "'a'='a'; drop table t"}),
        json!({"where": "a=1 or pg_sleep(5) is null"}),
        json!({"where": "a in (select \"pg_sleep\"(9))"}),
        json!({"where": "sleep(5) = 0"}),
        json!({"filter": {"raw": "1=1; delete from t"}}),
        json!({"columns": "(delete from t returning 1)"}),
        json!({"columns": ["a", "b from t; drop table t"]}),
        json!({"statements": "[\"delete from t\"]"}),
        json!({"statements": " [ \"drop table t\" ] "}),
        json!({"x": "{\"sql\": \"drop table t\"}"}),
        json!({"x": "[{\"statement\": \"update t set a = 1\"}]"}),
    ];
    let honest = [
        json!({"limit": "5", "offset": "0", "order_by": "1"}),
        json!({"where": "name = 'it''s; delete'", "order_by": "created_at desc"}),
        json!({"where": "a = 1 and b in (1, 2)", "limit": 10}),
        json!({"where": "lower(name) like '%drop table%'"}),
        json!({"columns": ["a", "count(*) as n", "max(updated_at)"]}),
        json!({"columns": "(select max(a) from u) as top, b"}),
        json!({"table": "public.\"Orders\""}),
        json!({"where": "date_trunc('day', ts) = '2024-01-01'"}),
        json!({"note": "(1) first; (2) update the docs & set a date"}),
        json!({"reason": "5 users asked; delete requests are up"}),
        json!({"text": "How does pg_sleep(5) differ from what the docs say?"}),
        json!({"params": "[1, \"Ann\", null]"}),
        json!({"filter": "{\"status\": \"deleted\", \"update\": true}"}),
        json!({"description": "please sleep (eight hours) and edit (twice)"}),
    ];
    for arguments in refused {
        assert!(!passes(&rows, &arguments), "passed: {arguments}");
    }
    for arguments in honest {
        assert!(passes(&rows, &arguments), "refused: {arguments}");
    }
}

/// What a query opens must lie inside, in whatever words and quotes it says so.
#[test]
fn files_in_every_kind_of_string_are_held_to_the_limits() {
    let limited = |scope: &Value| checks_from("/srv/ok", &[], &json!({}), std::slice::from_ref(scope));
    let checks = limited(&json!({"paths": ["/srv/ok", "/srv/ok/**"], "deny_paths": ["**/secret*"]}));
    let files = [
        "ATTACH '/etc/x' AS y",
        "ATTACH IF NOT EXISTS '/etc/x' AS y",
        "ATTACH OR REPLACE '/etc/x' AS y",
        "ATTACH DATABASE IF NOT EXISTS '/etc/x' AS y",
        "COPY FROM DATABASE a TO b; ATTACH IF NOT EXISTS '../x'",
        "SELECT count(*) FROM glob('/etc/*')",
        "FROM read_text($a$/etc/passwd$a$)",
        "SELECT * FROM read_csv($$/etc/passwd$$)",
        "COPY t TO $$/etc/x$$",
        "COPY t TO E'/etc/x'",
        "SELECT * FROM read_text(N'/etc/passwd')",
        "SELECT * FROM read_text(list_value('/etc/passwd'))",
        "SELECT * FROM read_text(['/etc/passwd'])",
        "FROM read_csv(lower('/ETC/PASSWD'))",
        "CREATE FOREIGN TABLE t() SERVER s OPTIONS (filename '/etc/passwd')",
        "CALL apoc.load.json('file:/etc/x')",
        "LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row",
        "EXEC xp_dirtree '/etc'",
        "EXECUTE p('/etc/passwd')",
        "SELECT pg_stat_file('/etc/passwd')",
        "SELECT bfilename('/etc/x','passwd') FROM dual",
        "CREATE TABLE t ENGINE=File(CSV,'/etc/x')",
        "RESTORE DATABASE x FROM DISK='/etc/x'",
        "INSERT INTO FUNCTION file('/etc/x') SELECT 1",
        "UNLOAD (x) TO '/etc/x'",
        "SELECT * FROM '/etc/x.csv'",
        "SELECT * FROM read_csv('data/*.csv')",
        "SELECT * FROM read_csv('secret.csv')",
        "ATTACH 'secret.db' AS y",
        "VACUUM INTO '/etc/x.db'",
        "CREATE VIRTUAL TABLE t USING csv(filename='/etc/x.csv')",
    ];
    let cases = files.iter().flat_map(|text| [json!({"sql": text}), json!({"query": text})]);
    assert_hostile(&checks, &cases.collect::<Vec<_>>());
    assert_honest(
        &checks,
        &[
            json!({"sql": "SELECT * FROM t WHERE path = '/etc/passwd'"}),
            json!({"sql": "SELECT * FROM t WHERE path LIKE '/etc/%' AND url IN ('/api', '/usr/x')"}),
            json!({"sql": "INSERT INTO t (path) VALUES ('/usr/bin/env'), ('../x')"}),
            json!({"sql": "UPDATE t SET path = '/etc/x' WHERE id = 1"}),
            json!({"sql": "SELECT replace(path, '/usr/share', '') FROM t"}),
            json!({"sql": "SELECT split_part(path, '/', 2), concat('/usr/', name) FROM t"}),
            json!({"sql": "SELECT regexp_matches(path, '^/etc/x') FROM t"}),
            json!({"sql": "SELECT count(*) FILTER (WHERE path = '/etc/x') FROM t"}),
            json!({"sql": "SELECT CASE WHEN p LIKE '/etc/%' THEN 'system' ELSE '/usr/x' END FROM t"}),
            json!({"sql": "SELECT * FROM read_csv('data/x.csv')"}),
            json!({"sql": "SELECT * FROM read_csv('data/sales*.csv')"}),
            json!({"sql": "SELECT * FROM '/srv/ok/x.parquet'"}),
            json!({"sql": "ATTACH '/srv/ok/x.db' AS y"}),
            json!({"sql": "ATTACH IF NOT EXISTS 'x.db' AS y"}),
            json!({"sql": "CREATE TABLE t (path text DEFAULT '/etc/x')"}),
            json!({"sql": "SELECT to_char(d, 'YYYY/MM/DD'), date_format(d, '%Y/%m') FROM t"}),
            json!({"sql": "SELECT json_extract(a, '$.x/y') FROM t"}),
            json!({"query": "MATCH (n:File {path: '/etc/x'}) RETURN n"}),
            json!({"query": "how do I read '/etc/hosts' from python"}),
        ],
    );
    let hosts = limited(&json!({"hosts": ["api.example.com"]}));
    assert_hostile(
        &hosts,
        &[
            json!({"sql": "ATTACH 'host=evil.com dbname=x' AS p"}),
            json!({"sql": "SELECT dblink('host=evil.com dbname=x','y')"}),
            json!({"sql": "CREATE SERVER s OPTIONS (host 'evil.com')"}),
        ],
    );
    assert_honest(
        &hosts,
        &[
            json!({"sql": "SELECT * FROM t WHERE email = 'a@b.example'"}),
            json!({"sql": "SELECT 'a=b' AS x, 'evil' FROM t"}),
        ],
    );
}

/// What reads rows hands what it is given to a database, whether its words say so or not.
#[test]
fn pieces_for_tools_that_only_speak_of_rows() {
    let tool = json!({"name": "list_rows", "description": "List rows of a table",
        "inputSchema": {"properties": {"table": {"type": "string"}, "where": {"type": "string"}, "filter": {"type": "object"}}}});
    let checks = checks(&[Readonly], &tool, &[]);
    assert_hostile(
        &checks,
        &[
            json!({"table": "t", "where": "1=1; drop table x"}),
            json!({"table": "t", "where": "1=1); delete from x; --"}),
            json!({"table": "t", "where": "1=1 or lo_export(1,'/x')>0"}),
            json!({"table": "t; drop table x"}),
            json!({"table": "t", "conditions": "1=1; drop table x"}),
            json!({"table": "t", "filter": {"$where": "function(){db.x.drop()}"}}),
        ],
    );
    assert_honest(
        &checks,
        &[
            json!({"table": "orders", "where": "status = 'open' and created_at > '2026-01-01'"}),
            json!({"table": "orders", "where": "name like '%drop%'"}),
            json!({"table": "orders", "filter": {"status": "open; urgent"}}),
            json!({"table": "People", "filterByFormula": "AND({Status}='Open', {Due}<TODAY())"}),
            json!({"table": "tasks", "where": "title = 'Update the table of contents; then delete drafts'"}),
        ],
    );
}
