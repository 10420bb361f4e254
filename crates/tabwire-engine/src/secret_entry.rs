//! Filling a field with a secret that was named. Whoever asked for it never gets to see it, and only the origin it was
//! saved for gets it.

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::{Value, json};
use tabwire_wire::{ErrorCode, Failure};
use tokio::time::Instant;

use crate::changes::Changes;
use crate::context::Context;
use crate::element::{Aim, Element};
use crate::one_time_code::one_time_code;
use crate::page::Page;
use crate::saved_login::SavedLogin;
use crate::sealed_state::Passphrase;
use crate::secret_reference::{SecretPart, SecretReference};
use crate::settle::{Settled, Watch};

/// Finds a saved login, and sees to it that its secrets are told to nobody from now on.
pub(crate) async fn find_login(
    context: &Context,
    name: &str,
    passphrase: Option<Passphrase>,
) -> Result<SavedLogin, Failure> {
    let none = || Failure::new(ErrorCode::NoBackend, "No logins are kept here.");
    let keeper = Arc::clone(context.logins.as_ref().ok_or_else(none)?);
    let name = name.to_owned();
    // Opening what is sealed takes time, and a keyring may ask its owner.
    let found = tokio::task::spawn_blocking(move || keeper.find(&name, passphrase.as_ref())).await;
    let login = found.map_err(|error| {
        Failure::new(ErrorCode::Internal, format!("Looking for the login broke off: {error}."))
    })??;
    context.browser.evidence().with_redaction(|redaction| login.strike_from(redaction));
    context.concealment.learn(&login);
    Ok(login)
}

/// Fills a field with what a reference means.
pub(crate) async fn enter_secret(
    context: &Context,
    page: &Page,
    aim: &Aim,
    reference: &SecretReference,
    mut watch: Watch,
) -> Result<(Element, Changes), Failure> {
    let began = Instant::now();
    let login = find_login(context, &reference.login, None).await?;
    let context = &context.with_time_since(began);
    let text = text_of(&login, reference)?;
    let element = page.prepare_at(aim, "fill", json!({}), context.deadline).await?;
    watch.was_at_element(&element, page);
    let hands = page.take_hands(context.deadline).await?;
    let argument = json!({
        "key": element.key(),
        "origin": login.origin,
        "text": text,
        "mayShow": reference.part != SecretPart::Password,
    });
    let entered: Result<Value, Failure> =
        page.call_in(&element.frame, "enterSecret", &argument, context.deadline).await;
    let rest = watch.begin_rest(page, &element, json!({"expected": text}), context.deadline);
    drop(hands);
    let Settled { changes, matches } = watch.finish(context, page, entered.map(drop), rest).await?;
    if matches == Some(false) && !changes.navigated {
        let message = format!("{} did not take the secret as it is.", element.description());
        return Err(Failure::new(ErrorCode::NotActionable, message)
            .with_hint("The field may format or shorten what it is given. Ask the user to fill it in."));
    }
    Ok((element, changes))
}

fn text_of(login: &SavedLogin, reference: &SecretReference) -> Result<String, Failure> {
    match reference.part {
        SecretPart::Password => Ok(login.password.expose().to_owned()),
        SecretPart::Username => Ok(login.username.clone()),
        SecretPart::Code => {
            let none = || {
                Failure::new(
                    ErrorCode::BadArgs,
                    format!("The login `{}` makes no one-time codes.", login.name),
                )
                .with_hint("Save it again with --totp-secret-file.")
            };
            let secret = login.totp_secret.as_ref().ok_or_else(none)?;
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            one_time_code(secret.expose(), now)
        }
    }
}
