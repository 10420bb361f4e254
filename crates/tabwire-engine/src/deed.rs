//! One deed on a page: watched from before its input until what follows is over. Knows nothing of what is done.

use serde_json::Value;
use tabwire_wire::Failure;

use crate::context::Context;
use crate::element::Element;
use crate::page::Page;
use crate::settle::{Settled, Watch};

/// A deed that has begun to be watched.
pub(crate) struct Deed<'a> {
    context: &'a Context,
    page: Page,
    watch: Watch,
}

impl<'a> Deed<'a> {
    /// Begins a deed on the page that the context names.
    pub(crate) async fn begin(context: &'a Context) -> Result<Self, Failure> {
        let page = context.page().await?;
        Ok(Self::on(context, &page))
    }

    /// Begins a deed on a page.
    pub(crate) fn on(context: &'a Context, page: &Page) -> Self {
        let watch = Watch::arm(page, &context.browser);
        Self { context, page: page.clone(), watch }
    }

    pub(crate) fn page(&self) -> &Page {
        &self.page
    }

    /// Settles after input that was answered like this. `ends` says what should have come of it, in the agent's
    /// words.
    pub(crate) async fn settle(
        mut self,
        element: &Element,
        input: Result<(), Failure>,
        ends: Value,
    ) -> Result<Settled, Failure> {
        self.watch.was_at_element(element, &self.page);
        let rest = self.watch.begin_rest(&self.page, element, ends, self.context.deadline);
        self.watch.finish(self.context, &self.page, input, rest).await
    }
}
