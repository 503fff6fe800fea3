//! Files and machines in queries, under limits: what is not written out as one string cannot be shown to lie inside.

use serde_json::{Value, json};
use switchboard_validators::arguments::Checks;

use crate::common::{assert_honest, assert_hostile, checks_from};

fn limited(scope: &Value) -> Checks {
    let tool = json!({"name": "query", "description": "Runs a statement of SQL against the database"});
    checks_from("/srv/ok", &[], &tool, std::slice::from_ref(scope))
}

fn under_paths() -> Checks {
    limited(&json!({"paths": ["/srv/ok/**", "/srv/ok"]}))
}

fn statements(texts: &[&str]) -> Vec<Value> {
    texts.iter().map(|text| json!({ "sql": text })).collect()
}

/// In hexadecimal, by `char` and `chr`, joined, from a column or a variable, in each dialect.
#[test]
fn the_name_of_a_file_that_is_computed_is_refused() {
    let texts = [
        "SELECT LOAD_FILE(0x2f6574632f706173737764)",
        "SELECT LOAD_FILE(x'2f6574632f706173737764')",
        "SELECT LOAD_FILE(concat(char(47),'etc/passwd'))",
        "SELECT LOAD_FILE(char(47,101,116,99,47,112,97,115,115,119,100))",
        "SELECT LOAD_FILE(unhex('2f6574632f706173737764'))",
        "SELECT LOAD_FILE(from_base64('L2V0Yy9wYXNzd2Q='))",
        "SELECT LOAD_FILE(path) FROM t",
        "SELECT LOAD_FILE(@p)",
        "SELECT LOAD_FILE(b'0010')",
        "select pg_read_file(chr(47)||'etc/passwd')",
        "select pg_read_file(convert_from(decode('2f657463','hex'),'utf8'))",
        "select pg_ls_dir(chr(47))",
        "select pg_stat_file(chr(47))",
        "select lo_import(chr(47)||'etc/passwd')",
        "select lo_export(1, chr(47)||'etc/x')",
        "COPY t FROM PROGRAM 'id'",
        "DO $$ BEGIN EXECUTE 'COPY t FROM ' || quote_literal(chr(47)||'etc/passwd'); END $$",
        "EXEC xp_cmdshell 'type c:\\x'",
        "EXEC xp_cmdshell @x",
        "DECLARE @x varchar(99) = char(47)+'etc'; EXEC xp_dirtree @x",
        "EXEC xp_dirtree 0x2f657463",
        "select readfile(char(47,101))",
        "select writefile(char(47,101), 'x')",
        "select writefile('x'||'y', 'x')",
        "select readfile(x'2f657463')",
        "select readfile(cast(x'2f657463' as text))",
        "ATTACH char(47,101) AS b",
        "ATTACH x'2f6574632f78' AS b",
        "ATTACH DATABASE ?1 AS b",
        "ATTACH DATABASE :p AS b",
        "ATTACH DATABASE $p AS b",
        "select * from t INTO OUTFILE 0x2f6574632f78",
        "select * from t INTO DUMPFILE concat('/','etc')",
        "LOAD DATA LOCAL INFILE 0x2f657463 INTO TABLE t",
        "VACUUM INTO char(47)||'etc/x'",
        "select load_extension(char(47))",
        "select * from read_csv(chr(47)||'etc/passwd')",
        "select * from read_text(getvariable('p'))",
        "select * from file(char(47,101), 'TSV')",
        "COPY t TO (chr(47)||'etc/x')",
        "select * from dblink(chr(104)||'ost=evil', 'select 1') as t(a int)",
        "select utl_file.fopen(chr(47)||'etc','passwd','r') from dual",
        "select pg_file_write(chr(47),'x',true)",
        "select xmlparse(document pg_read_file(chr(47)))",
        "select query_to_xml('select pg_read_file(chr(47))',true,true,'')",
        "BACKUP DATABASE x TO DISK = 0x2f",
        "BACKUP DATABASE x TO DISK = @p",
        "CREATE TABLE t (x int) ENGINE=CSV DATA DIRECTORY='/etc'",
        "CREATE EXTERNAL TABLE t (x int) LOCATION '/etc'",
        "CREATE TABLESPACE x LOCATION '/etc'",
        "CREATE FUNCTION f() RETURNS int AS '/etc/x.so','f' LANGUAGE C",
        "set global slow_query_log_file = concat('/','x')",
        "select sys_eval('id')",
        "select sys_exec('id')",
        "select * from csv.`/etc/passwd`",
        "select /*!50000 load_file(0x2f)*/",
        "select load_file /**/ (0x2f657463)",
        "select `load_file`(0x2f657463)",
        "select mysql.load_file(0x2f657463)",
        "CREATE FOREIGN TABLE t (x text) SERVER s OPTIONS (program 'id')",
    ];
    assert_hostile(&under_paths(), &statements(&texts));
    assert_hostile(
        &under_paths(),
        &[
            json!({"statement": "select load_file(0x2f65)"}),
            json!({"x": "select load_file(0x2f65)"}),
            json!({"where": "id = load_file(0x2f65)"}),
        ],
    );
}

/// What is run later, what a client does itself, and places that stand in no call.
#[test]
fn statements_within_statements_and_commands_of_clients_are_looked_into() {
    let texts = [
        "select pg_read_file(\"p\") from (select chr(47)||'etc/passwd' as \"p\") t",
        "select pg_read_file('p'), pg_read_file(\"p\") from x",
        "EXEC('BULK INSERT t FROM ''/etc/x''')",
        "EXEC('BULK INSERT t FROM ''' + @x + '''')",
        "PREPARE s FROM @q; EXECUTE s",
        "PREPARE s FROM 'select load_file(0x2f65)'; EXECUTE s",
        "EXECUTE IMMEDIATE concat('select load', '_file(0x2f)')",
        "EXECUTE IMMEDIATE 'select load_file(0x2f)'",
        "exec sp_executesql @s",
        "exec sp_executesql N'bulk insert t from ''/etc/x'''",
        "do $$ declare f text := chr(47)||'etc'; begin execute 'copy t from '||quote_literal(f); end $$",
        "do $$ declare f text; begin execute f; end $$",
        "do $$ begin perform pg_read_file(chr(47)); end $$",
        "create function f() returns text as $$ select pg_read_file(chr(47)||'x') $$ language sql",
        "select U&\"pg_read\\005ffile\"(chr(47))",
        "select * from dblink('dbname=x', 'select pg_read_file(chr(47))') as t(a text)",
        "with f as (select chr(47)||'x' p) select read_text(p) from f",
        "select * from f, lateral read_text(f.p)",
        "CALL xp_cmdshell('id')",
        "xp_dirtree @x",
        "copy t from x'2f65'",
        "select lo_import(b'01')",
        ".read /etc/passwd",
        ".import /etc/passwd t",
        ".open /etc/x",
        ".output /etc/x",
        "source /etc/x",
        "select 1; tee /etc/x",
        "select * from t \\g /etc/x",
        "CALL apoc.load.json('fi'+'le:///etc/passwd')",
        "CREATE TABLE t (x int) DATA DIRECTORY='/etc'",
        "CREATE EXTERNAL TABLE t (x int) LOCATION '/etc'",
        "CREATE TABLESPACE x LOCATION '/etc'",
        "CREATE DATABASE x ON (NAME=a, FILENAME='/etc/x')",
        "CREATE FUNCTION f() RETURNS int AS '/etc/x.so','f' LANGUAGE C",
        "select * from csv.`/etc/passwd`",
        "create table t (x int) location 's3://b/x'",
    ];
    assert_hostile(&under_paths(), &statements(&texts));
}

#[test]
fn what_a_query_computes_elsewhere_is_data() {
    let texts = [
        "select * from read_csv(['/srv/ok/a.csv','b.csv'], header=true, columns={'a':'INT'})",
        "select * from read_csv('a.csv', delim='|', all_varchar=1)",
        "select * from read_parquet('/srv/ok/*.parquet', union_by_name = true) where a = concat('x','y')",
        "select * from read_json('a.json'::varchar)",
        "copy (select * from t) to 'out.csv' (header, delimiter ',')",
        "copy t from 'in.csv' with (format csv, header true)",
        "copy t to stdout with csv",
        "copy (select a from b where c = 'x') to stdout",
        "insert into file (a, b) values ('x', 'y')",
        "create table file (id int)",
        "select f.path, f.name from files f where f.path like '%/x'",
        "select total_xp, xp_points from t where xp_points > 3",
        "select t.xp_points + 1 from t",
        "update t set log_file = concat('a', b) where id = 1",
        "set search_path to public, x",
        "set statement_timeout = 0",
        "set @x = concat('a','b')",
        "exec sp_help 'dbo.t'",
        "exec dbo.my_proc @a = 1, @b = N'x'",
        "execute prep(1, 'x')",
        "prepare p from 'select 1'",
        "prepare p as select * from t where a = $1",
        "create trigger t before insert on x for each row execute function f()",
        "create trigger t before insert on x for each row execute procedure f(1)",
        "create function f() returns int as $$ begin return 1; end $$ language plpgsql",
        "do $$ begin raise notice 'x'; end $$",
        "attach 'a.db'",
        "attach database 'a.db' as x",
        "attach if not exists 'a.db' as x (type sqlite)",
        "attach ':memory:' as x",
        "alter table t attach partition p for values in (1)",
        "attach table t",
        "vacuum",
        "vacuum into 'b.db'",
        "select 'load_file(0x2f)' as x",
        "insert into notes values ('select load_file(path)')",
        "select char(10), replace(a, char(13), '') from t",
        "select glob('a*', name) from t",
        "select name from t where name glob 'a*'",
        "select edit, url from t where url = 'https://x'",
        "select remote, url(x) from t",
        "SELECT a INTO b FROM c",
        "load data infile 'a.csv' into table t fields terminated by ','",
        "how do I copy a file from (a) to (b)?",
        "attach the report to my mail",
        "exec summary",
        "to load a file (fast)",
        "open file (recent)",
        "grant execute on function f to x",
        "select \"path\", [file] from t",
        "select * from read_csv(\"a.csv\")",
        "select * from t where a ~ '\\d+/\\w+'",
        ".tables",
        ".schema t",
        "create table t (path text default '/x/y')",
        "create table t as select '/etc/x' as p",
        "create view v as select * from t where location = 'a/b'",
        "insert into t (location) values ('/etc/x')",
        "select * from json.`a`",
        "select char(65), chr(66), 0x41, concat('a/b','c') from t",
        "select * from t where x = 0x2f657463",
        "insert into t values (0x2f65, char(47))",
        "select * from '/srv/ok/a.csv'",
        "select load_file('/srv/ok/a.txt')",
        "select pg_read_file('/srv/ok/a', 0, 100)",
        "select writefile('/srv/ok/a', data) from t",
    ];
    assert_honest(&under_paths(), &statements(&texts));
}

#[test]
fn machines_that_are_computed_are_refused_under_a_limit_of_hosts() {
    let checks = limited(&json!({"hosts": ["a.example"]}));
    let texts = [
        "select * from dblink(chr(104)||'ost=evil', 'select 1') as t(a int)",
        "select * from remote(x)",
        "select * from url('http://b.example/x')",
    ];
    assert_hostile(&checks, &statements(&texts));
    let texts = [
        "select * from dblink('host=a.example', 'select 1') as t(a int)",
        "select * from url('http://a.example/x')",
        "select url, remote, file from t",
    ];
    assert_honest(&checks, &statements(&texts));
}

/// A query of any length and depth is read in time.
#[test]
fn long_queries_are_read_in_time() {
    let checks = under_paths();
    for unit in [
        "load_file('a'),",
        "load_file(",
        "load_file('a',",
        "eval(",
        "dblink('','a b',",
        "exec 'a b' ",
        "copy to ",
        "execute '",
        "do 'do ''",
        "\"a\" [b] xp_a 0,",
        "$a$ do ",
        ". x.",
    ] {
        for begin in ["select ", "exec ", "do ", "copy "] {
            let _ =
                crate::common::check(&checks, &json!({ "sql": format!("{begin}{}", unit.repeat(3_000 / unit.len())) }));
        }
    }
}
