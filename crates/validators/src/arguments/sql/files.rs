//! Files that a query names in place of a table. A database of files is there to read data: what is called like data may
//! be read, what is called like a key, or whatever a pattern happens to match, is asked about.

/// What files of data end with, in front of how they are packed.
const DATA: &[&str] = &[
    "csv", "tsv", "psv", "tab", "txt", "parquet", "pq", "json", "jsonl", "ndjson", "geojson", "xlsx", "xls", "avro",
    "orc", "arrow", "feather", "ipc", "db", "db3", "sqlite", "sqlite3", "duckdb", "gpkg", "shp", "fgb", "kml", "gpx",
];
const PACKED: &[&str] = &["gz", "zst", "zstd", "bz2", "xz", "snappy", "lz4"];
/// What other files end with, so that a name in quotes is one.
const OTHER: &[&str] = &[
    "key", "pem", "env", "yml", "yaml", "ini", "conf", "cfg", "toml", "tfstate", "tfvars", "p12", "pfx", "crt", "kdbx",
    "sh", "py", "js", "log", "xml", "sql", "bak", "dump", "ppk", "asc", "gpg",
];
/// Words in names of files with secrets.
const SECRET: &[&str] = &[
    "secret",
    "secrets",
    "credential",
    "credentials",
    "cred",
    "creds",
    "password",
    "passwords",
    "passwd",
    "pwd",
    "pass",
    "cookie",
    "cookies",
    "wallet",
    "vault",
    "apikey",
    "apikeys",
    "serviceaccount",
    "private",
    "env",
    "dotenv",
    "shadow",
    "kubeconfig",
    "tfstate",
    "rsa",
    "ed25519",
    "keystore",
    "keychain",
    "htpasswd",
    "login",
    "logins",
    "chat",
    "chats",
    "contacts",
    "history",
    "imessage",
    "keyfile",
    "mail",
    "messages",
    "places",
    "signal",
    "sms",
    "whatsapp",
];
/// The same as last word: `api-keys.json`, but not `key_figures.csv`.
const SECRET_AT_END: &[&str] =
    &["key", "keys", "token", "tokens", "session", "sessions", "config", "settings", "account", "auth", "oauth"];

/// Why the name of a file is asked about, if it is. `folder`: the function reads folders, whose names end with nothing.
pub(super) fn doubt(name: &str, folder: bool) -> Option<&'static str> {
    let name = name.trim().to_lowercase();
    // A list in brackets, which another dialect takes for a name in quotes; its own reading judges what is in it.
    if name.starts_with(['\'', '"']) {
        return None;
    }
    if name.contains(['?', '[', '{']) {
        return Some("a pattern may match any file");
    }
    let file = name.rsplit(['/', '\\']).next().unwrap_or(&name);
    let (stem, ending) = parts(file);
    let pattern = name.contains('*');
    if !(DATA.contains(&ending) || folder && ending.is_empty() && !pattern) {
        return Some("the file is not called like one of data");
    }
    // `*.json` has keys among it; in a folder of its own, or in a format of tables, it is data.
    let inside = name.split(['/', '\\']).next().is_some_and(|first| first != file && !first.contains('*'));
    if pattern && !inside && !matches!(ending, "parquet" | "pq" | "orc" | "avro" | "arrow") {
        return Some("a pattern may match any file");
    }
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let last = stem.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let secret = words.iter().any(|word| SECRET.contains(word)) || SECRET_AT_END.contains(&last);
    let secret = secret || super::secrets::in_any_language(file);
    secret.then_some("the file is called like one with secrets")
}

/// Whether a name in quotes, in place of a table, is that of a file.
pub(super) fn is_file(name: &str) -> bool {
    let name = name.trim().to_lowercase();
    let (stem, ending) = parts(&name);
    // `project.dataset.events_*` are tables.
    let pattern = name.contains(['*', '?']) && name.split('.').count() < 3;
    pattern || name.contains(['/', '\\']) || !stem.is_empty() && (DATA.contains(&ending) || OTHER.contains(&ending))
}

/// The name of a file without its ending, and the ending that tells what is in it.
fn parts(file: &str) -> (&str, &str) {
    let Some((stem, ending)) = file.rsplit_once('.') else { return (file, "") };
    if PACKED.contains(&ending) { stem.rsplit_once('.').unwrap_or((stem, "")) } else { (stem, ending) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files() {
        for data in [
            "sales.csv",
            "data/sales_2024.parquet",
            "events/*.parquet",
            "logs/2025/*.json",
            "**/*.parquet",
            "a.csv.gz",
            "key_figures.csv",
            "token_usage.json",
            "shop.db",
        ] {
            assert_eq!(doubt(data, false), None, "{data}");
        }
        for asked in [
            "?env",
            "*env",
            "[.]env",
            "**",
            "**/*",
            "*.json",
            "**/*.csv",
            "credentials.json",
            "service-account.json",
            "id_rsa",
            "server.key",
            "terraform.tfstate",
            "Login Data",
            "cookies.sqlite",
            "api_keys.csv",
            "config.json",
            "notes",
        ] {
            assert!(doubt(asked, false).is_some(), "{asked}");
        }
        assert_eq!(doubt("lake/orders", true), None);
        for (name, file) in [
            ("credentials.csv", true),
            ("a/b", true),
            ("public.orders", false),
            ("p.d.events_*", false),
            ("*env", true),
        ] {
            assert_eq!(is_file(name), file, "{name}");
        }
    }
}
