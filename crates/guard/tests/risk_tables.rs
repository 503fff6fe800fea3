//! The risk of tools of public servers, as a table of what people would say of them.
use std::path::Path;

use switchboard_guard::risk::{OperatorWord, assess};
use switchboard_protocol::mgp::TrustLevel;
use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_wire::{Limits, Raw};

#[test]
#[ignore = "prints what holds for the definitions in a folder"]
fn definitions_in_a_folder() {
    let folder = std::env::var("RISK_DEFINITIONS").expect("a folder");
    let mut out = String::new();
    let mut files: Vec<_> = std::fs::read_dir(Path::new(&folder)).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "json")) {
        let text = std::fs::read_to_string(file).unwrap();
        let raw = Raw::parse(text, &Limits { bytes: 64 << 20, keys: 10_000_000, ..Limits::default() }).unwrap();
        let tools = raw.member("tools").or_else(|| raw.at(&["result", "tools"])).and_then(|tools| tools.elements());
        for tool in tools.unwrap_or_default() {
            let name = tool.member("name").and_then(|name| name.as_text()).unwrap_or_default();
            let said = ToolSecurity::of(&tool);
            let found = assess(&said, &name, &OperatorWord::default(), TrustLevel::Standard, false);
            let checks: Vec<_> = found.validators.iter().map(|one| one.as_str()).collect();
            let server = file.file_stem().unwrap().to_string_lossy();
            out += &format!(
                "{server}\t{name}\t{}\t{}\t{}\t{}\n",
                found.risk.as_str(),
                if found.confirm.is_some() { "asks" } else { "-" },
                checks.join(","),
                found.reason
            );
        }
    }
    std::fs::write(std::env::var("RISK_OUT").expect("a file"), out).unwrap();
}
