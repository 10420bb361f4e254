//! Fills a field with a referenced secret. The caller never sees it, and only the origin of the login receives it.

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tokio::time::Instant;

use crate::action::context::Context;
use crate::action::result::Changes;
use crate::input::element::{Element, ResolvedTarget};
use crate::secrets::login::SavedLogin;
use crate::settle::{InputAction, SettleResult};
use tabwire_secrets::Passphrase;
use tabwire_secrets::totp_code;
use tabwire_secrets::{SecretPart, SecretReference};

/// Finds a saved login and redacts its secrets from now on.
pub(crate) async fn find_login(
    context: &Context,
    name: &str,
    passphrase: Option<Passphrase>,
) -> Result<SavedLogin, Failure> {
    let none = || Failure::new(ErrorCode::NoBackend, "There is no store for logins.");
    let keeper = Arc::clone(context.logins.as_ref().ok_or_else(none)?);
    let name = name.to_owned();
    // Decryption is slow, and a keyring may prompt the user.
    let found = tokio::task::spawn_blocking(move || keeper.find(&name, passphrase.as_ref())).await;
    let login = found.map_err(|error| {
        Failure::new(ErrorCode::Internal, format!("Reading the login failed: {error}."))
    })??;
    context.browser.captures().with_redaction(|redaction| login.add_secrets_to(redaction));
    context.redactor.learn(&login);
    Ok(login)
}

/// Fills a field with a referenced secret.
pub(crate) async fn enter_secret(
    action: InputAction<'_>,
    resolved: &ResolvedTarget,
    reference: &SecretReference,
) -> Result<(Element, Changes), Failure> {
    let began = Instant::now();
    let login = find_login(action.context(), &reference.login, None).await?;
    // Opening the vault may wait for the user; that time does not count.
    let context = &action.context().with_time_since(began);
    let mut action = action.with_context(context);
    let page = action.page().clone();
    let text = text_of(&login, reference)?;
    let element = page.prepare_resolved(resolved, "fill", json!({}), context.deadline).await?;
    action.set_element(&element);
    let input = page.lock_input(context.deadline).await?;
    let argument = json!({
        "key": element.key(),
        "origin": login.origin,
        "text": text,
        "mayShow": reference.part != SecretPart::Password,
    });
    let entered: Result<Value, Failure> =
        page.call_in(&element.frame, "enterSecret", &argument, context.deadline).await;
    let report = action.request_report(&element, json!({"expected": text}));
    drop(input);
    let SettleResult { changes, matches } = action.finish(entered.map(drop), report).await?;
    if matches == Some(false) && !changes.navigated {
        let message = format!("{} did not accept the exact secret.", element.description());
        return Err(Failure::new(ErrorCode::NotActionable, message)
            .with_remedy("The field may reformat or shorten its value. Ask the user to fill it in."));
    }
    Ok((element, changes))
}

fn text_of(login: &SavedLogin, reference: &SecretReference) -> Result<String, Failure> {
    match reference.part {
        SecretPart::Password => Ok(login.password.expose().to_owned()),
        SecretPart::Username => Ok(login.username.clone()),
        SecretPart::Code => {
            let none = || {
                Failure::new(ErrorCode::BadArgs, format!("The login `{}` has no TOTP secret.", login.name))
                    .with_remedy(Remedy::new(
                        "Save the secret with {}.",
                        [Step::command("tabwire auth save --totp-secret-file FILE")],
                    ))
            };
            let secret = login.totp_secret.as_ref().ok_or_else(none)?;
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            totp_code(secret.expose(), now)
        }
    }
}
