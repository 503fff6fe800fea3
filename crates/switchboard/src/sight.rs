//! What commands see of servers and tools: those of a kernel that runs with this configuration, else those of a kernel that is
//! started for the command alone.

mod progress;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;
use switchboard_config::Loaded;
use switchboard_kernel::SERVERS_LIST;
use switchboard_wire::Raw;

use crate::arguments::Common;
use crate::attach::{self, Attached};
use crate::commands::call::answers::Answers;
use crate::commands::kernel::to_take_effect;
use crate::control::Running;
use crate::failure::Failure;
use crate::local::{Client, Local, raw, refused};
use crate::{memory, screen, setup, specs};

pub(crate) use progress::Progress;

/// How often servers that start are looked at.
const START_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// What a kernel says of one of its servers.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ServerReport {
    pub(crate) id: String,
    /// Where it is in its life, in one word.
    pub(crate) phase: String,
    pub(crate) why: Option<String>,
    /// The revision spoken with it.
    pub(crate) revision: Option<String>,
    /// How many tools, prompts, resources and templates it has.
    pub(crate) counts: [usize; 4],
    /// Lists that could not be had.
    pub(crate) problems: Vec<String>,
    pub(crate) hidden: Vec<Hidden>,
    pub(crate) mended: Vec<Mended>,
    /// What is held back until a person accepts it, and why.
    pub(crate) held: Vec<(String, String)>,
    /// What is shown with a mark, and what was found in it.
    pub(crate) marked: Vec<(String, String)>,
    pub(crate) trust_level: String,
    pub(crate) permissions_missing: Vec<String>,
    /// Tools that lack permissions of their own.
    pub(crate) tools_lacking: Vec<(String, Vec<String>)>,
}

impl ServerReport {
    pub(crate) fn is_starting(&self) -> bool {
        self.phase == "starting"
    }
}

/// What is not shown to clients.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Hidden {
    pub(crate) name: String,
    pub(crate) why: String,
    /// Whether clients would refuse the whole list with it.
    pub(crate) unfit: bool,
}

/// What is shown in another form than the server gave it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Mended {
    pub(crate) name: String,
    pub(crate) what: Vec<String>,
    pub(crate) legacy_only: Vec<String>,
}

/// Where servers and tools are seen.
pub(crate) struct Sight {
    pub(crate) loaded: Loaded,
    profile: Option<Arc<str>>,
    /// The kernel that runs has other variables than we have, or lacks programs that we would find.
    differs: bool,
    at: At,
}

enum At {
    /// At a kernel that runs.
    Running { control: Running, client: Client },
    /// At one of our own.
    Own(Box<Local>),
}

impl Sight {
    /// Looks for a kernel that runs; starts all servers where there is none.
    pub(crate) async fn open(common: &Common) -> Result<Self, Failure> {
        Self::within(common, None).await
    }

    /// The same, as clients see it that chose a profile.
    pub(crate) async fn within(common: &Common, profile: Option<&str>) -> Result<Self, Failure> {
        let loaded = setup::read(common)?;
        let profile = setup::profile(&loaded, profile)?;
        if let Some(attached) = attach::running_somewhere(&setup::sources(common)?, &loaded, profile.as_deref()).await {
            let differs = attached.differs;
            if let Some(at) = At::running(&loaded, attached).await {
                return Ok(Self { loaded, profile, differs, at });
            }
        }
        let local = Local::of(loaded.clone()).await?;
        Ok(Self { loaded, profile, differs: false, at: At::Own(Box::new(local)) })
    }

    /// The process of the kernel that runs.
    pub(crate) const fn process(&self) -> Option<u32> {
        match &self.at {
            At::Running { control, .. } => Some(control.process),
            At::Own(_) => None,
        }
    }

    /// That what is seen is not what a client would have that is started from here, and what to do about it.
    pub(crate) fn difference(&self) -> Option<String> {
        let process = self.process().filter(|_| self.differs)?;
        Some(format!(
            "the kernel that runs (process {process}) was started where other variables or another PATH hold than here; this is how \
             its servers are. A client started from here would have others. To give the clients of that kernel what they lack, set \
             it where they are started (`env` of their entry for Switchboard), and start them again"
        ))
    }

    /// What was changed in the configuration and does not hold at the kernel that runs, and what to do about it.
    pub(crate) async fn later(&self) -> Option<String> {
        let At::Running { control, .. } = &self.at else { return None };
        let keys = control.next_start().await;
        let keys = (!keys.is_empty()).then(|| screen::plain_line(&keys.join(", ")))?;
        let kind = control.state().await.map(|state| state.kind);
        Some(format!(
            "the kernel that runs (process {}) uses an older setting than the file of: {keys}; {}",
            control.process,
            to_take_effect(kind)
        ))
    }

    /// What is known of each server when all have come up or failed. Says how far they are where that takes a while.
    pub(crate) async fn settled(&self) -> Result<Vec<ServerReport>, Failure> {
        if let At::Own(local) = &self.at {
            local.settle().await;
            return Ok(local.seen());
        }
        let began = Instant::now();
        let patience = specs::patience(&specs::specs(&self.loaded.config, &self.loaded.data_dir));
        let mut progress = Progress::default();
        loop {
            let seen = self.seen().await?;
            progress.lines(began.elapsed(), &seen).iter().for_each(screen::note);
            if !seen.iter().any(ServerReport::is_starting) || began.elapsed() > patience {
                return Ok(seen);
            }
            tokio::time::sleep(START_POLL_INTERVAL).await;
        }
    }

    async fn seen(&self) -> Result<Vec<ServerReport>, Failure> {
        match &self.at {
            At::Own(local) => Ok(local.seen()),
            At::Running { control, .. } => {
                let answer = control.ask(SERVERS_LIST, raw(&json!({}))).await?.map_err(|error| refused(&error))?;
                let answer: Described = answer.view().map_err(|error| Failure::failed(error.to_string()))?;
                Ok(answer.servers)
            }
        }
    }

    /// All tools, as clients see them who are given all.
    pub(crate) async fn tools(&self) -> Result<Vec<Raw>, Failure> {
        match &self.at {
            At::Own(local) => {
                let client =
                    local.connect(self.profile.clone(), Raw::empty_object(), Arc::new(Answers::none())).await?;
                client.tools().await
            }
            At::Running { client, .. } => client.tools().await,
        }
    }

    /// Ends the servers that were started for it.
    pub(crate) async fn end(&self) {
        if let At::Own(local) = &self.at {
            local.end().await;
        }
    }
}

impl At {
    /// `None` where the kernel is of another build, which says less of its servers.
    async fn running(loaded: &Loaded, attached: Attached) -> Option<Self> {
        let control = Running::all(&loaded.data_dir).await.into_iter().find(|one| one.process == attached.process)?;
        let Attached { reader, writer, .. } = attached;
        let none = Arc::new(Answers::none());
        let client = Client::greet(reader, writer, loaded, Raw::empty_object(), none).await.ok()?;
        let answer = control.ask(SERVERS_LIST, raw(&json!({}))).await.ok()?.ok()?;
        answer.view::<Described>().is_ok().then_some(Self::Running { control, client })
    }
}

#[derive(Deserialize)]
struct Described {
    servers: Vec<ServerReport>,
}

/// The server that a tool's name in the list belongs to.
pub(crate) fn owner_of<'s>(loaded: &Loaded, seen: &'s [ServerReport], tool: &str) -> Option<&'s str> {
    // A single server is shown as it is, without a prefix, whatever is built in.
    let alone = || {
        let mut others = seen.iter().filter(|server| seen.len() == 1 || server.id != memory::ID);
        others.next().filter(|_| others.next().is_none()).map(|server| server.id.as_str())
    };
    setup::owner_of(&loaded.config, seen.iter().map(|server| server.id.as_str()), tool).or_else(alone)
}
