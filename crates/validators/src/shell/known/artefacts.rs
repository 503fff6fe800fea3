//! Files and folders that tools make, told by their names from those that people write.

use super::{kept, outputs};

/// Ends of names of files that tools make: results, pictures, archives, programs.
const ARTEFACTS: &str = "7z a aab apk app arrow asc avi avif bc bin bmp br bz2 cast class cov crt csr csv dat data deb der diff dll dmg \
     docx dot drawio dump dylib eps epub exe flac feather folded geojson gif graphml gv gz hex heapsnapshot htm html \
     icns ico img info ipa ipynb iso jar jpeg jpg json jsonl jsonlines key lcov ll lock log lst lz4 m4a map mkv mmd \
     mov mp3 mp4 mpg ndjson o obj odt ods ogg onnx opus out parquet patch pb pbf pcap pcapng pdf pem pgm plan plist \
     png pot ppm pptx prof profdata profraw ps pprof pub puml rdb rpm rst rtf rules s sarif sbom shp sig snap so spdx \
     spirv spv sql sqlite sqlite3 srt stats stl svg tar tex tfplan tgz tif tiff tmp toc trace trx tsv ttf txt vtt war \
     wasm wat wav webm webp whl woff woff2 xhtml xls xlsx xml xz zip zst elf uf2 mo po deps d md db gguf pyz dtb ko \
     nupkg sym dwo gch pch rlib rmeta hprof jfr etl nsys-rep perf mem cpuprofile heapprofile bundle gpx kml fits npy \
     npz h5 pkl adoc css min excalidraw vsix crx snupkg gem phar mdb tcx ics";
/// Files that describe a project and that nobody has a tool write over.
const DOCUMENTS: &[&str] = &[
    "readme",
    "license",
    "licence",
    "copying",
    "contributing",
    "security",
    "authors",
    "claude",
    "agents",
    "gemini",
    "code_of_conduct",
    "codeowners",
    "notice",
    "architecture",
    "copilot-instructions",
    "index",
];
/// Ends of names of files with text that people write.
const TEXTS: &[&str] = &["md", "rst", "adoc", "tex", "txt", "ipynb"];
/// Folders in which people keep what they write.
const WRITTEN: &[&str] = &[
    "content",
    "posts",
    "_posts",
    "thesis",
    "manuscript",
    "notes",
    "notebooks",
    "originals",
    "migrations",
    "fixtures",
    "data",
    "config",
    "conf",
    "settings",
    "src",
    "lib",
    "app",
    "docs",
    "templates",
    "views",
    "locales",
    "certs",
];
/// Programs that write a program under the name that they are told.
const COMPILERS: &[&str] = &[
    "c++",
    "cc",
    "clang",
    "clang++",
    "crystal",
    "dmd",
    "fpc",
    "g++",
    "gcc",
    "gfortran",
    "ghc",
    "go",
    "ifort",
    "kotlinc-native",
    "ld",
    "lld",
    "ldc2",
    "mold",
    "nasm",
    "nim",
    "nvcc",
    "nuitka",
    "ocamlc",
    "ocamlfind",
    "ocamlopt",
    "odin",
    "rustc",
    "strip",
    "swiftc",
    "tcc",
    "v",
    "yasm",
    "zig",
    "objcopy",
    "pkg",
    "bun",
    "deno",
    "as",
    "ar",
    "shc",
    "ponyc",
    "gnatmake",
    "valac",
];
/// Programs that write the history of a project into its document.
const HISTORIES: &[&str] = &[
    "git-cliff",
    "conventional-changelog",
    "auto-changelog",
    "towncrier",
    "git-chglog",
    "standard-version",
    "cz",
    "terraform-docs",
    "helm-docs",
    "doctoc",
];

/// Whether a program makes what it is told to write: the end of its name says so, or the folder.
pub(super) fn is_artefact(program: &str, path: &str) -> bool {
    let path = path.trim_start_matches("./");
    let file = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_+{}%,".contains(c);
    // The terminal, a number, what a template fills in.
    if path.is_empty()
        || matches!(path, "-" | "." | "..")
        || path.starts_with("/dev/")
        || path.starts_with(['$', '@'])
        || path.chars().all(|c| c.is_ascii_digit())
    {
        return true;
    }
    let steps = || path.split('/').filter(|step| !step.is_empty());
    let temporary = ["/tmp/", "/var/tmp/", "tmp/", "temp/", ".cache/"].iter().any(|front| path.starts_with(front))
        || matches!(path, "/tmp" | "tmp");
    let made = temporary || steps().any(kept::is_made_step);
    let folders = || steps().rev().skip(1);
    let Some((stem, end)) = file.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) else {
        // A folder, a program, or the name of a form: `json`, `wide`.
        let small = file.chars().all(|c| is_plain(c) && !c.is_ascii_uppercase());
        let written = WRITTEN.contains(&file)
            || DOCUMENTS.contains(&file)
            || matches!(
                file,
                "tests"
                    | "test"
                    | "spec"
                    | "scripts"
                    | "backups"
                    | "backup"
                    | "uploads"
                    | "storage"
                    | "db"
                    | "include"
                    | "assets"
                    | "examples"
                    | "packages"
                    | "crates"
                    | "configure"
                    | "bin"
                    | "gradlew"
                    | "mvnw"
                    | "artisan"
                    | "vendor"
            );
        let documents = file.starts_with("doc")
            && matches!(
                program,
                "typedoc"
                    | "jsdoc"
                    | "doxygen"
                    | "sphinx-build"
                    | "javadoc"
                    | "yard"
                    | "rdoc"
                    | "phpdoc"
                    | "esdoc"
                    | "dart"
                    | "mkdocs"
            );
        let generates =
            matches!(program, "protoc" | "buf") || file == "lib" && matches!(program, "tsc" | "babel" | "swc");
        let compiles = COMPILERS.contains(&program) && !path.contains('/') && matches!(file, "app" | "test");
        let among_code = folders().any(|step| WRITTEN.contains(&step) || matches!(step, "scripts" | "tests" | "hooks"))
            && !generates;
        // With the ending that a tool gives it, it may decide what runs.
        let deciding = kept::decides_by_name(file) || kept::decides_by_name(&format!("{file}.py"));
        let of_project =
            path.starts_with("bin/") && matches!(file, "rails" | "rake" | "console" | "setup" | "dev" | "bundle");
        return made && !of_project
            || small && !deciding && !among_code && (!written || documents || generates || compiles);
    };
    let lower = stem.to_ascii_lowercase();
    let end = end.to_ascii_lowercase();
    let is_setting = matches!(end.as_str(), "yaml" | "yml" | "toml" | "ini" | "cfg" | "conf" | "properties" | "env");
    if made {
        return true;
    }
    if is_setting {
        // What is described or rendered is a result; `values.yaml` is not.
        return [
            "openapi",
            "swagger",
            "report",
            "result",
            "output",
            "rendered",
            "manifest",
            "schema",
            "out",
            "environment",
            "docker-compose.out",
            "bundle",
            "api",
            "lock",
            "all",
        ]
        .iter()
        .any(|word| lower.contains(word));
    }
    let is_text = TEXTS.contains(&end.as_str());
    let is_document = is_text
        && (DOCUMENTS.contains(&lower.as_str())
            || lower == "changelog"
            || folders().any(|step| WRITTEN.contains(&step)))
        && !HISTORIES.contains(&program);
    // Reports and logs among the data of a project take its place.
    let keeps_data = matches!(
        program,
        "curl"
            | "wget"
            | "wget2"
            | "axel"
            | "aria2c"
            | "dvc"
            | "ogr2ogr"
            | "csvsql"
            | "duckdb"
            | "ffmpeg"
            | "iconv"
            | "sort"
            | "shuf"
            | "xsv"
            | "qsv"
            | "mlr"
            | "jq"
            | "gdal_translate"
            | "pandoc"
    ) || makes_stores(program);
    let is_written = folders().any(|step| step == "data" && !keeps_data)
        || folders().any(|step| {
            matches!(
                step,
                "migrations"
                    | "originals"
                    | "_posts"
                    | "posts"
                    | "thesis"
                    | "manuscript"
                    | "backups"
                    | "backup"
                    | "photos"
            )
        });
    !is_document
        && !is_written
        && (crate::listed(ARTEFACTS, end.as_str())
            || end.bytes().all(|byte| byte.is_ascii_digit())
            || outputs::GENERATORS.contains(&program))
}

/// Whether a file describes the project: no tool turns another file into it.
pub(super) fn is_document(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let (stem, end) = file.rsplit_once('.').unwrap_or((&file, ""));
    (end.is_empty() || TEXTS.contains(&end)) && stem != "index" && (DOCUMENTS.contains(&stem) || stem == "changelog")
}

/// Programs that write down data where a project keeps it.
pub(super) fn makes_stores(program: &str) -> bool {
    outputs::MAKING_STORES.contains(&program) || outputs::DUMPERS.contains(&program)
}
