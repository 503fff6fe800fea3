//! Texts that a tool works on, beside the path that it works at.

use std::sync::Arc;

use serde_json::json;
use switchboard_policy::schema::Schema;

use crate::common::{assert_honest, assert_hostile, checks_from, raw};

#[test]
fn a_text_that_begins_with_a_step_up_is_no_path() {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}});
    let limited = || checks_from("/srv/ok", &[], &json!({}), &[json!({"paths": ["/srv/ok/**", "/srv/ok"]})]);
    let declared = limited().with_schema(Some(Arc::new(Schema::read(&raw(&schema)))));
    let texts = [
        "../x is up",
        "../x is up\n",
        "../a\n../b\n",
        "../../README.md says hi",
        "see a/../b and ../../c for more",
        "import x from '../y'\nimport z from '../../z'\n",
        "- ../x\n- ../y",
        "(../x) and ../../../y",
        "../../README.md explains it.\nMore text",
    ];
    assert_honest(&declared, &texts.map(|text| json!({"path": "/srv/ok/a.txt", "content": text})));
    assert_honest(&declared, &texts.map(|text| json!({"path": "sub/a.txt", "content": text})));
    assert_hostile(
        &declared,
        &[
            json!({"path": "/srv/ok/a.txt", "content": "../bad"}),
            json!({"path": "../bad", "content": "../x is up"}),
            json!({"path": "..", "content": "x"}),
            json!({"path": "/srv/ok/a.txt", "name": "../b", "content": "x"}),
            json!({"path": "sub/..", "name": "../b", "content": "../x is up"}),
        ],
    );
}
