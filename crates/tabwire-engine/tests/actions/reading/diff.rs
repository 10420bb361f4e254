//! `diff`: changes since the last snapshot, since a baseline, and in a screenshot.

use serde_json::json;
use tabwire_api::ErrorCode;
use tabwire_image::Image;

use crate::actions::support::stage::Stage;

const PAGE: &str = "<style>body { margin: 0 } #box { position: absolute; left: 40px; top: 60px; width: 50px; \
    height: 30px; background: white }</style><h1>Shop</h1><button onclick=\"this.textContent = 'Done'; \
    document.querySelector('#box').style.background = 'black'\">Pay</button><div id=box></div>";

#[tokio::test(flavor = "multi_thread")]
async fn diff_compares_with_the_last_snapshot_and_a_baseline() {
    let stage = Stage::start().await;
    stage.show(PAGE).await;
    stage.fails(ErrorCode::NotActionable, "diff", json!({"what": "snapshot"})).await;
    stage.act("snapshot", json!({})).await;
    assert_eq!(stage.act("diff", json!({"what": "snapshot"})).await["same"], true);
    let saved = stage.act("diff", json!({"what": "snapshot", "save": stage.files.at("base.txt")})).await;
    let path = saved["path"].as_str().expect("a path").to_owned();
    let file = std::fs::read_to_string(&path).expect("written");
    assert!(file.contains("button \"Pay\"") && !file.contains('\0') && !file.contains("e1"), "{file}");
    let with_file = json!({"what": "snapshot", "baseline": path});
    assert_eq!(stage.act("diff", with_file.clone()).await["same"], true);

    stage.act("click", json!({"target": "button"})).await;
    let result = stage.act("diff", json!({"what": "snapshot"})).await;
    assert_eq!(result["same"], false);
    assert!(result["changes"].to_string().contains("Done"), "{result}");
    // The same request gives the same result: `diff` does not replace the last snapshot.
    assert_eq!(stage.act("diff", json!({"what": "snapshot"})).await, result);
    let text = stage.text("diff", with_file.clone()).await;
    assert!(text.contains("button \"Pay\"") && text.contains("button \"Done\""), "{text}");
    assert!(text.starts_with("<page "), "{text}");
    // A baseline file works after the document is gone.
    stage.show(PAGE).await;
    assert_eq!(stage.act("diff", with_file).await["same"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn diff_compares_screenshots_pixel_by_pixel() {
    let stage = Stage::start().await;
    stage.show(PAGE).await;
    let shot = stage.act("screenshot", json!({"output": stage.files.at("base.png")})).await;
    let path = shot["path"].as_str().expect("a path").to_owned();
    let same = stage.act("diff", json!({"what": "screenshot", "baseline": path})).await;
    assert_eq!((&same["same"], &same["changed_pixels"]), (&json!(true), &json!(0)));
    assert!(same.get("picture").is_none(), "{same}");
    stage.eval("document.querySelector('#box').style.background = 'black'").await;
    let result = stage.act("diff", json!({"what": "screenshot", "baseline": path})).await;
    assert_eq!(result["changed_pixels"], 1_500, "{result}");
    assert_eq!(result["boxes"], json!([[40, 60, 50, 30]]));
    let ratio = result["ratio"].as_f64().expect("a number");
    assert!(ratio > 0.0 && ratio < 0.01, "{result}");
    let image = std::fs::read(result["picture"].as_str().expect("a path")).expect("written");
    let image = Image::from_png(&image).expect("a PNG");
    assert_eq!(image.pixel(50, 70), Some([220, 0, 40, 255]));
    assert_ne!(image.pixel(10, 90), Some([220, 0, 40, 255]));
    // Threshold 1 accepts even black against white.
    let blind = json!({"what": "screenshot", "baseline": path, "threshold": 1.0});
    assert_eq!(stage.act("diff", blind).await["same"], true);
    let element = json!({"what": "screenshot", "baseline": path, "target": "#box"});
    let text = stage.text("diff", element).await;
    assert!(text.contains("the sizes differ") && text.contains("50x30 now"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn diff_rejects_bad_input_and_wrong_moments() {
    let stage = Stage::at("/plain").await;
    let text = stage.files.put("text.txt", b"no baseline");
    for bad in [
        json!({}),
        json!({"what": "page"}),
        json!({"what": "screenshot"}),
        json!({"what": "screenshot", "baseline": text}),
        json!({"what": "screenshot", "baseline": text, "threshold": 2}),
        json!({"what": "screenshot", "save": "x"}),
        json!({"what": "snapshot", "baseline": text}),
        json!({"what": "snapshot", "baseline": "nowhere.txt"}),
        json!({"what": "snapshot", "threshold": 0.5}),
        json!({"what": "snapshot", "baseline": text, "save": "x"}),
    ] {
        let failed = stage.try_act("diff", bad.clone()).await.expect_err("refused");
        assert_eq!(failed.code, ErrorCode::BadArgs, "{bad}: {failed:?}");
    }
    let outside = json!({"what": "snapshot", "baseline": "/etc/passwd"});
    stage.fails(ErrorCode::PolicyDenied, "diff", outside).await;
    stage.check_wrong_moments("diff", json!({"what": "snapshot"})).await;
}
