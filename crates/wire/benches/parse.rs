//! Time to read and write messages of the sizes that pass through a gateway.
#![allow(missing_docs, reason = "criterion's macros make undocumented items")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use switchboard_wire::{Edit, Limits, Message, Raw};

fn parse(criterion: &mut Criterion) {
    let call = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello, world","count":3},"_meta":{"progressToken":"abc-1"}}}"#.to_vec();
    let tool = r#"{"name":"tool","description":"Looks up a record and returns its status.","inputSchema":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}}"#;
    let list = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"tools":[{}]}}}}"#, vec![tool; 420].join(","));
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[{{"type":"text","text":"{}"}}]}}}}"#,
        "lorem ipsum ".repeat(87_000)
    );
    let limits = Limits::default();
    let mut group = criterion.benchmark_group("parse+encode");
    for (name, message) in [("call", call), ("list", list.into_bytes()), ("text", text.into_bytes())] {
        let message = bytes::Bytes::from(message);
        group.throughput(Throughput::Bytes(message.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| Message::parse(black_box(message.clone()), &limits).expect("valid").encode());
        });
    }
    group.finish();
    let params = Raw::parse(
        &br#"{"name":"server__echo","arguments":{"message":"hello","count":3},"_meta":{"progressToken":"abc-1"}}"#[..],
        &limits,
    )
    .expect("valid");
    criterion.bench_function("edit one key", |bencher| {
        bencher.iter(|| Edit::of(black_box(&params)).expect("object").set("name", Raw::string("echo")).finish());
    });
}

criterion_group!(benches, parse);
criterion_main!(benches);
