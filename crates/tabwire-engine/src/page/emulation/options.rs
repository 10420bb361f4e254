//! Applies the arguments of the action `emulate` to a page.

use serde_json::json;
use tabwire_api::{ErrorCode, Failure};
use tabwire_cdp::CdpError;

use crate::action::context::Context;
use crate::actions::emulate::{Emulate, Switch};
use crate::browser::visited_origins::origin_of;
use crate::cdp::CommandTarget;
use crate::page::Page;
use crate::page::emulation::device::find_device;
use crate::page::emulation::user_agent::UserAgent;
use crate::page::emulation::{
    DecidedPermission, Emulation, ValueChange, Viewport, parse_geolocation, parse_viewport,
};

/// Media features that can be emulated, and their values.
const FEATURES: &[(&str, &str, &[&str])] = &[
    ("color_scheme", "prefers-color-scheme", &["dark", "light"]),
    ("reduced_motion", "prefers-reduced-motion", &["reduce", "no-preference"]),
    ("forced_colors", "forced-colors", &["active", "none"]),
    ("contrast", "prefers-contrast", &["more", "less", "custom", "no-preference"]),
];

/// Common permissions, for error messages.
const PERMISSIONS: &str = "geolocation, notifications, camera, microphone, clipboard-read, clipboard-write, midi, \
     background-sync, persistent-storage, storage-access, local-fonts, screen-wake-lock, accelerometer, gyroscope, \
     magnetometer, payment-handler, window-management";

/// Applies the arguments. Returns what is emulated afterwards.
pub(crate) async fn apply(requested: &Emulate, context: &Context, page: &Page) -> Result<Emulation, Failure> {
    let locked = page.unless_blocked(async {
        let emulation = page.state().emulation().lock();
        tokio::time::timeout_at(context.deadline.instant(), emulation)
            .await
            .map_err(|_| Failure::new(ErrorCode::Timeout, "Another `emulate` on the tab took too long."))
    });
    let mut emulation = locked.await?;
    let before = emulation.clone();
    let mut after = if requested.reset { Emulation::default() } else { before.clone() };
    after.permissions.clone_from(&before.permissions);
    change_device(requested, &mut after, context).await?;
    change_viewport(requested, &mut after)?;
    change_media(requested, &mut after)?;
    change_environment(requested, &mut after)?;
    let permissions = requested_permissions(requested, page, context).await?;
    page.emulate(&before, &after, context.deadline).await?;
    *emulation = after;
    if requested.reset || requested.reset_permissions {
        for decided in std::mem::take(&mut emulation.permissions) {
            decide(context, page, &DecidedPermission { setting: "prompt".to_owned(), ..decided }).await?;
        }
    }
    for permission in permissions {
        decide(context, page, &permission).await?;
        emulation
            .permissions
            .retain(|known| known.name != permission.name || known.origin != permission.origin);
        emulation.permissions.push(permission);
    }
    Ok(emulation.clone())
}

async fn change_device(requested: &Emulate, after: &mut Emulation, context: &Context) -> Result<(), Failure> {
    let name = match ValueChange::read(requested.device.as_deref()) {
        ValueChange::Leave => {
            return if requested.landscape {
                Err(bad("`landscape` needs a `device`.", "Swap width and height of the `viewport`."))
            } else {
                Ok(())
            };
        }
        ValueChange::Off => {
            (after.device, after.viewport, after.touch, after.user_agent) = (None, None, false, None);
            return Ok(());
        }
        ValueChange::Set(name) => name,
    };
    let device = find_device(name)?;
    let version = context.browser.version(context.deadline).await?;
    let product = version.get("product").and_then(serde_json::Value::as_str).unwrap_or_default();
    let chrome = product.split_once('/').map_or("", |(_, version)| version);
    let (width, height) =
        if requested.landscape { (device.height, device.width) } else { (device.width, device.height) };
    after.device = Some(device.name.to_owned());
    after.viewport = Some(Viewport { width, height, scale: device.scale, mobile: device.is_mobile() });
    after.touch = device.is_mobile();
    after.user_agent = UserAgent::of_device(device.system, chrome);
    Ok(())
}

fn change_viewport(requested: &Emulate, after: &mut Emulation) -> Result<(), Failure> {
    match ValueChange::read(requested.viewport.as_deref()) {
        ValueChange::Leave => {}
        ValueChange::Off => after.viewport = None,
        ValueChange::Set(text) => {
            let hint = "Give it as WIDTHxHEIGHT, e.g. 390x844 or 390x844@3, at most 10000 pixels a side.";
            let (width, height, scale) =
                parse_viewport(text).ok_or_else(|| bad(&format!("{text:?} is not a size."), hint))?;
            let kept = after.viewport.unwrap_or(Viewport { width, height, scale: 1.0, mobile: false });
            after.viewport =
                Some(Viewport { width, height, scale: scale.unwrap_or(kept.scale), mobile: kept.mobile });
        }
    }
    if let Some(touch) = requested.touch {
        after.touch = touch == Switch::On;
    }
    if requested.scale.is_none() && !requested.mobile {
        check_scale(after.viewport)?;
        return Ok(());
    }
    let Some(viewport) = &mut after.viewport else {
        return Err(bad(
            "`scale` and `mobile` need a `viewport` or a `device`.",
            "Add a viewport of 390x844.",
        ));
    };
    viewport.scale = requested.scale.unwrap_or(viewport.scale);
    viewport.mobile |= requested.mobile;
    check_scale(after.viewport)
}

fn check_scale(viewport: Option<Viewport>) -> Result<(), Failure> {
    match viewport {
        Some(viewport) if !(0.1..=10.0).contains(&viewport.scale) => {
            Err(bad("The scale must be between 0.1 and 10.", "Phones have 2 or 3, most screens 1."))
        }
        _ => Ok(()),
    }
}

fn change_media(requested: &Emulate, after: &mut Emulation) -> Result<(), Failure> {
    let given =
        [&requested.color_scheme, &requested.reduced_motion, &requested.forced_colors, &requested.contrast];
    for ((option, feature, values), given) in FEATURES.iter().zip(given) {
        match ValueChange::read(given.as_deref()) {
            ValueChange::Leave => {}
            ValueChange::Off => drop(after.features.remove(*feature)),
            ValueChange::Set(value) if values.contains(&value) => {
                after.features.insert((*feature).to_owned(), value.to_owned());
            }
            ValueChange::Set(value) => {
                let hint = format!("Use {} or off.", values.join(", "));
                return Err(bad(&format!("`{option}` cannot be {value:?}."), &hint));
            }
        }
    }
    match ValueChange::read(requested.media.as_deref()) {
        ValueChange::Leave => {}
        ValueChange::Off => after.media = None,
        ValueChange::Set(media @ ("screen" | "print")) => after.media = Some(media.to_owned()),
        ValueChange::Set(media) => {
            return Err(bad(&format!("`media` cannot be {media:?}."), "Use screen, print or off."));
        }
    }
    Ok(())
}

fn change_environment(requested: &Emulate, after: &mut Emulation) -> Result<(), Failure> {
    match ValueChange::read(requested.geolocation.as_deref()) {
        ValueChange::Leave => {}
        ValueChange::Off => after.geolocation = None,
        ValueChange::Set(text) => {
            let hint = "Give LATITUDE,LONGITUDE in degrees, e.g. 52.52,13.405, or off.";
            let place =
                parse_geolocation(text).ok_or_else(|| bad(&format!("{text:?} is not a position."), hint))?;
            after.geolocation = Some(place);
        }
    }
    for (given, kept) in [(&requested.locale, &mut after.locale), (&requested.timezone, &mut after.timezone)]
    {
        match ValueChange::read(given.as_deref()) {
            ValueChange::Leave => {}
            ValueChange::Off => *kept = None,
            ValueChange::Set("") => return Err(bad("The value is empty.", "Use off to stop emulating it.")),
            ValueChange::Set(text) => *kept = Some(text.to_owned()),
        }
    }
    match ValueChange::read(requested.user_agent.as_deref()) {
        ValueChange::Leave => {}
        ValueChange::Off => after.user_agent = None,
        ValueChange::Set(text) if text.is_empty() || text.chars().any(char::is_control) => {
            return Err(bad("A user agent is one line of text.", "Use off to stop emulating it."));
        }
        ValueChange::Set(text) => after.user_agent = Some(UserAgent::from_text(text)),
    }
    match requested.cpu {
        None => Ok(()),
        Some(times) if (1.0..=100.0).contains(&times) => {
            after.cpu_slowdown = Some(times).filter(|times| *times > 1.0);
            Ok(())
        }
        Some(_) => Err(bad("`cpu` must be between 1 and 100.", "4 is a slow phone, 1 is no slowdown.")),
    }
}

async fn requested_permissions(
    requested: &Emulate,
    page: &Page,
    context: &Context,
) -> Result<Vec<DecidedPermission>, Failure> {
    if requested.grant.is_empty() && requested.deny.is_empty() {
        return match requested.origin {
            Some(_) => Err(bad("`origin` needs `grant` or `deny`.", "Add one, or leave out `origin`.")),
            None => Ok(Vec::new()),
        };
    }
    let url = match &requested.origin {
        Some(origin) => origin.clone(),
        None => page.info(context.deadline).await?.url,
    };
    let origin = origin_of(&url).ok_or_else(|| {
        bad(
            &format!("{url:?} is not an http or https URL, so it has no permissions."),
            "Open a page first, or give an `origin`.",
        )
    })?;
    let granted = requested.grant.iter().map(|name| (name, "granted"));
    let denied = requested.deny.iter().map(|name| (name, "denied"));
    let decided = granted.chain(denied).map(|(name, setting)| DecidedPermission {
        name: name.clone(),
        origin: origin.clone(),
        setting: setting.to_owned(),
    });
    Ok(decided.collect())
}

async fn decide(context: &Context, page: &Page, permission: &DecidedPermission) -> Result<(), Failure> {
    let mut params = json!({
        "permission": {"name": permission.name}, "origin": permission.origin, "setting": permission.setting,
    });
    // Without it, Chromium sets the permission of the default context.
    if let Some(jar) = context.browser.context_of(page.target()) {
        params["browserContextId"] = json!(jar);
    }
    let set =
        page.session().command(&CommandTarget::Browser, "Browser.setPermission", &params, context.deadline);
    page.unless_blocked(async {
        match set.await {
            Ok(_) => Ok(()),
            Err(CdpError::Protocol { message, .. }) => {
                let message = format!("The browser rejects the permission {:?}: {message}.", permission.name);
                Err(bad(&message, &format!("Use one of: {PERMISSIONS}.")))
            }
            Err(error) => Err(error.into_failure()),
        }
    })
    .await
}

fn bad(message: &str, hint: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, message).with_remedy(hint)
}
