//! The requests about tasks, in both forms.

use switchboard_peer::{BoxFuture, Context};
use switchboard_protocol::fault::Rendering;
use switchboard_protocol::mcp::{
    CreateTaskResult, LegacyTask, ListTasksResult, PaginatedParams, ResultKind, TaskIdParams, UpdateTaskParams, meta,
    method,
};
use switchboard_protocol::{Era, Revision};
use switchboard_wire::{Edit, Raw};

use super::Server;
use super::call::{has_tasks, told_to_the_model};
use super::handle::{method_not_found, view};
use crate::page::page;
use crate::task::{Owner, with_related};
use crate::{Ctx, Error};

impl Server {
    /// Lets work go on in the background, and answers with the task that stands for it.
    pub(super) fn begin_task(
        &self,
        ctx: &Ctx,
        owner: &Owner,
        work: BoxFuture<'static, Result<Raw, Error>>,
    ) -> Result<Raw, Error> {
        let entry = self.0.tasks.begin(owner)?;
        let task = entry.view();
        ctx.become_task(entry.clone());
        let revision = ctx.revision();
        let ctx = ctx.clone();
        self.0.running.spawn(entry.run(work, move |outcome| {
            ctx.end();
            let rendering = Rendering::new(revision, method::TOOLS_CALL);
            told_to_the_model(outcome, revision)
                .and_then(|result| typed(&result, revision))
                .map_err(|error| error.render(&rendering))
        }));
        match owner.era {
            Era::Modern => Ok(Raw::from_value(&task.created())?),
            Era::Legacy => Ok(Raw::from_value(&CreateTaskResult::new(LegacyTask::from(task)))?),
        }
    }

    /// Refuses a modern client that did not say it can handle tasks.
    pub(super) fn require_tasks(context: &Context) -> Result<(), Error> {
        if has_tasks(context) {
            return Ok(());
        }
        let extension = Edit::empty().set(meta::TASKS_EXTENSION, Raw::empty_object()).finish();
        let required = Edit::empty().set("extensions", extension).finish();
        Err(Error::missing_capability(format!("the client did not declare {}", meta::TASKS_EXTENSION), required))
    }

    /// Refuses requests about tasks where there are none.
    fn check_tasks(&self, context: &Context, method: &str) -> Result<(), Error> {
        let revision = context.caller.revision;
        if !self.has_tasks() || revision < Revision::V2025_11_25 {
            return Err(method_not_found(method));
        }
        if revision.era() == Era::Modern { Self::require_tasks(context) } else { Ok(()) }
    }

    pub(super) fn get_task(&self, context: &Context, params: Option<&Raw>) -> Result<Raw, Error> {
        self.check_tasks(context, method::TASKS_GET)?;
        let params: TaskIdParams = view(params)?;
        let era = context.caller.era();
        let task = self.0.tasks.find(&params.task_id, &context.session.principal, era)?.view();
        match era {
            Era::Modern => Ok(Raw::from_value(&task)?),
            Era::Legacy => Ok(Raw::from_value(&LegacyTask::from(task))?),
        }
    }

    pub(super) fn cancel_task(&self, context: &Context, params: Option<&Raw>) -> Result<Raw, Error> {
        self.check_tasks(context, method::TASKS_CANCEL)?;
        let params: TaskIdParams = view(params)?;
        let era = context.caller.era();
        let entry = self.0.tasks.find(&params.task_id, &context.session.principal, era)?;
        let was_open = entry.cancel();
        match era {
            Era::Modern => Ok(Raw::empty_object()),
            Era::Legacy if !was_open => Err(Error::invalid_params("the task is over already")),
            Era::Legacy => Ok(Raw::from_value(&LegacyTask::from(entry.view()))?),
        }
    }

    pub(super) fn update_task(&self, context: &Context, params: Option<&Raw>) -> Result<Raw, Error> {
        self.check_tasks(context, method::TASKS_UPDATE)?;
        let params: UpdateTaskParams = view(params)?;
        let entry = self.0.tasks.find(&params.task_id, &context.session.principal, Era::Modern)?;
        entry.answer(params.input_responses);
        Ok(Raw::empty_object())
    }

    pub(super) async fn task_result(&self, context: &Context, params: Option<&Raw>) -> Result<Raw, Error> {
        self.check_tasks(context, method::TASKS_RESULT)?;
        let params: TaskIdParams = view(params)?;
        let entry = self.0.tasks.find(&params.task_id, &context.session.principal, Era::Legacy)?;
        // The wait ends with the task, which has a time to live, or with the client, which drops this future.
        let result = entry.result(|request| self.send(context, request)).await?;
        Edit::of(&result)
            .and_then(|edit| edit.within("_meta", |meta| with_related(meta, &entry.id)))
            .map(Edit::finish)
            .map_err(|error| Error::msg(error.to_string()))
    }

    pub(super) fn list_tasks(&self, context: &Context, params: Option<&Raw>) -> Result<Raw, Error> {
        self.check_tasks(context, method::TASKS_LIST)?;
        let params: PaginatedParams = view(params)?;
        let tasks = self.0.tasks.of(&context.session.principal, Era::Legacy);
        let (tasks, next) = page(&tasks, params.cursor.as_deref(), self.options().page_size)
            .ok_or_else(|| Error::invalid_params("the cursor was not issued by this server"))?;
        let tasks: Vec<_> = tasks.into_iter().map(|entry| LegacyTask::from(entry.view())).collect();
        let mut result = ListTasksResult::new(tasks);
        result.next_cursor = next;
        Ok(Raw::from_value(&result)?)
    }
}

/// The result inside a modern task is what the request would have been answered with.
fn typed(result: &Raw, revision: Revision) -> Result<Raw, Error> {
    if revision.era() == Era::Legacy {
        return Ok(result.clone());
    }
    let edit = Edit::of(result).map_err(|error| Error::msg(error.to_string()))?;
    let typed = edit.object().has("resultType");
    Ok(edit.set_optional("resultType", (!typed).then(|| Raw::string(ResultKind::COMPLETE))).finish())
}
