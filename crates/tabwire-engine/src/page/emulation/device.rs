//! The table of devices that `emulate` knows.

use tabwire_api::{ErrorCode, Failure};

/// Browser and operating system of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum System {
    /// Safari on a phone, with the iOS version.
    Iphone(&'static str),
    /// Safari on a tablet that requests mobile pages.
    Ipad(&'static str),
    /// Chrome on a phone, with its model and the Android version.
    AndroidPhone(&'static str, &'static str),
    /// Chrome on a tablet.
    AndroidTablet(&'static str, &'static str),
    /// The browser's own user agent.
    Desktop,
}

/// A device to emulate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Device {
    /// Its name.
    pub(crate) name: &'static str,
    /// The width of its screen in CSS pixels, upright.
    pub(crate) width: u32,
    /// The height.
    pub(crate) height: u32,
    /// Pixels of the screen per CSS pixel.
    pub(crate) scale: f64,
    /// Its browser and operating system.
    pub(crate) system: System,
}

const fn device(name: &'static str, width: u32, height: u32, scale: f64, system: System) -> Device {
    Device { name, width, height, scale, system }
}

/// All devices, by kind.
pub(crate) const DEVICES: &[Device] = &[
    device("iPhone SE", 375, 667, 2.0, System::Iphone("18_5")),
    device("iPhone 12", 390, 844, 3.0, System::Iphone("17_7")),
    device("iPhone 13", 390, 844, 3.0, System::Iphone("18_5")),
    device("iPhone 14", 390, 844, 3.0, System::Iphone("18_5")),
    device("iPhone 14 Pro Max", 430, 932, 3.0, System::Iphone("18_5")),
    device("iPhone 15", 393, 852, 3.0, System::Iphone("18_5")),
    device("iPhone 15 Pro Max", 430, 932, 3.0, System::Iphone("18_5")),
    device("iPhone 16", 393, 852, 3.0, System::Iphone("18_5")),
    device("iPhone 16 Pro", 402, 874, 3.0, System::Iphone("18_5")),
    device("iPhone 16 Pro Max", 440, 956, 3.0, System::Iphone("18_5")),
    device("iPad Mini", 744, 1133, 2.0, System::Ipad("18_5")),
    device("iPad", 820, 1180, 2.0, System::Ipad("18_5")),
    device("iPad Pro 11", 834, 1194, 2.0, System::Ipad("18_5")),
    device("iPad Pro 13", 1032, 1376, 2.0, System::Ipad("18_5")),
    device("Pixel 5", 393, 851, 2.75, System::AndroidPhone("Pixel 5", "14")),
    device("Pixel 7", 412, 915, 2.625, System::AndroidPhone("Pixel 7", "15")),
    device("Pixel 8", 412, 915, 2.625, System::AndroidPhone("Pixel 8", "15")),
    device("Pixel 9", 412, 923, 2.625, System::AndroidPhone("Pixel 9", "15")),
    device("Galaxy S9+", 320, 658, 4.5, System::AndroidPhone("SM-G965F", "10")),
    device("Galaxy S24", 360, 780, 3.0, System::AndroidPhone("SM-S921B", "14")),
    device("Galaxy A55", 480, 1040, 2.25, System::AndroidPhone("SM-A556B", "14")),
    device("Galaxy Tab S9", 800, 1280, 2.0, System::AndroidTablet("SM-X710", "14")),
    device("Moto G4", 360, 640, 3.0, System::AndroidPhone("Moto G (4)", "7.0")),
    device("Laptop", 1366, 768, 1.0, System::Desktop),
    device("Laptop HiDPI", 1440, 900, 2.0, System::Desktop),
    device("Desktop", 1920, 1080, 1.0, System::Desktop),
];

impl Device {
    /// Whether it is a handheld device.
    pub(crate) fn is_mobile(&self) -> bool {
        self.system != System::Desktop
    }
}

/// The device with a name. Case, spaces and punctuation are ignored.
pub(crate) fn find_device(name: &str) -> Result<&'static Device, Failure> {
    let plain = |text: &str| -> String {
        text.chars()
            .filter(|letter| letter.is_alphanumeric() || *letter == '+')
            .flat_map(char::to_lowercase)
            .collect()
    };
    let wanted = plain(name);
    DEVICES.iter().find(|device| plain(device.name) == wanted).ok_or_else(|| {
        let names: Vec<&str> = DEVICES.iter().map(|device| device.name).collect();
        Failure::new(ErrorCode::BadArgs, format!("There is no device {name:?}."))
            .with_remedy(format!("Use one of: {}.", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_names_ignore_case_and_punctuation() {
        for name in ["iPhone 15", "iphone-15", "IPHONE15"] {
            assert_eq!(find_device(name).map(|device| device.name), Ok("iPhone 15"));
        }
        assert!(find_device("Nokia 3310").expect_err("none").hint().contains("Pixel 9"));
        for device in DEVICES {
            assert_eq!(find_device(device.name), Ok(device), "names differ by more than their case");
        }
    }
}
