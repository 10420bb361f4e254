//! The steps of a generated story. Small numbers select from the existing clients, sessions and targets.

use proptest::prelude::*;

/// One step.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Join {
        share: u8,
        keeps: bool,
        partition: u8,
    },
    Leave {
        client: u8,
    },
    Ask {
        client: u8,
        id: u8,
        session: u8,
        ask: Ask,
    },
    Garbage {
        client: u8,
        kind: u8,
    },
    UserOpens,
    /// The control session opens a tab for a partition, or for none.
    ControlOpens {
        partition: u8,
    },
    /// A partition is reserved, possibly again.
    Reserve {
        partition: u8,
    },
    EndPartition {
        partition: u8,
    },
    /// Another daemon takes the browser over.
    TakeOver,
    Popup {
        opener: u8,
    },
    UserCloses {
        target: u8,
    },
    Emit {
        session: u8,
    },
    Deliver {
        queue: u8,
        count: u8,
    },
    DeliverAll,
    Double {
        response: u8,
    },
    Misroute {
        queue: u8,
        session: u8,
    },
    Lose,
    Start,
    Tick {
        seconds: u16,
    },
    LongTick,
}

/// A client's command.
#[derive(Clone, Debug)]
pub(crate) enum Ask {
    Echo,
    Discover { filter: u8, on: bool },
    AutoAttach { filter: u8, on: bool },
    Create { context: u8 },
    CreateContext { ends: bool },
    DisposeContext { context: u8 },
    Close { target: u8 },
    Attach { target: u8 },
    AttachBrowser,
    Detach { session: u8 },
    Info { target: u8 },
    Targets,
    Contexts,
    Enable,
    Run,
    Media,
    CloseBrowser,
}

fn ask() -> impl Strategy<Value = Ask> {
    prop_oneof![
        6 => Just(Ask::Echo),
        3 => (any::<u8>(), prop::bool::weighted(0.8)).prop_map(|(filter, on)| Ask::Discover { filter, on }),
        5 => (any::<u8>(), prop::bool::weighted(0.8)).prop_map(|(filter, on)| Ask::AutoAttach { filter, on }),
        8 => any::<u8>().prop_map(|context| Ask::Create { context }),
        3 => any::<bool>().prop_map(|ends| Ask::CreateContext { ends }),
        1 => any::<u8>().prop_map(|context| Ask::DisposeContext { context }),
        3 => any::<u8>().prop_map(|target| Ask::Close { target }),
        5 => any::<u8>().prop_map(|target| Ask::Attach { target }),
        1 => Just(Ask::AttachBrowser),
        2 => any::<u8>().prop_map(|session| Ask::Detach { session }),
        2 => any::<u8>().prop_map(|target| Ask::Info { target }),
        2 => Just(Ask::Targets),
        2 => Just(Ask::Contexts),
        3 => Just(Ask::Enable),
        4 => Just(Ask::Run),
        2 => Just(Ask::Media),
        1 => Just(Ask::CloseBrowser),
    ]
}

/// Any step; the common ones more often.
pub(crate) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (any::<u8>(), any::<bool>(), any::<u8>())
            .prop_map(|(share, keeps, partition)| Step::Join { share, keeps, partition }),
        3 => any::<u8>().prop_map(|partition| Step::ControlOpens { partition }),
        3 => any::<u8>().prop_map(|partition| Step::Reserve { partition }),
        1 => any::<u8>().prop_map(|partition| Step::EndPartition { partition }),
        1 => Just(Step::TakeOver),
        2 => any::<u8>().prop_map(|client| Step::Leave { client }),
        40 => (any::<u8>(), 0..4_u8, any::<u8>(), ask())
            .prop_map(|(client, id, session, ask)| Step::Ask { client, id, session, ask }),
        2 => (any::<u8>(), any::<u8>()).prop_map(|(client, kind)| Step::Garbage { client, kind }),
        2 => Just(Step::UserOpens),
        5 => any::<u8>().prop_map(|opener| Step::Popup { opener }),
        2 => any::<u8>().prop_map(|target| Step::UserCloses { target }),
        3 => any::<u8>().prop_map(|session| Step::Emit { session }),
        20 => (any::<u8>(), 1..4_u8).prop_map(|(queue, count)| Step::Deliver { queue, count }),
        12 => Just(Step::DeliverAll),
        2 => any::<u8>().prop_map(|response| Step::Double { response }),
        2 => (any::<u8>(), any::<u8>()).prop_map(|(queue, session)| Step::Misroute { queue, session }),
        1 => Just(Step::Lose),
        3 => Just(Step::Start),
        2 => (0..50_u16).prop_map(|seconds| Step::Tick { seconds }),
        1 => Just(Step::LongTick),
    ]
}
