// SPDX-License-Identifier: MIT
// Flow of two frames by the C interface, from Rust: rustc flow.rs -L FOLDER, which holds libparafield.so.
use std::ffi::{CStr, CString};
use std::mem::{size_of, zeroed};
use std::os::raw::{c_char, c_void};
use std::ptr;

#[repr(C)]
struct Frame {
    size: usize,
    data: *const c_void,
    pitch: isize,
    width: i32,
    height: i32,
    format: i32,
    memory: i32,
    device: i32,
    black: f32,
    white: f32,
    reserved: i32,
}

#[repr(C)]
struct Plane {
    data: *mut c_void,
    pitch: isize,
}

#[repr(C)]
struct Field {
    size: usize,
    width: i32,
    height: i32,
    memory: i32,
    device: i32,
    u: Plane,
    v: Plane,
    d: Plane,
    moving: Plane,
    valid: Plane,
    confidence: Plane,
}

#[repr(C)]
struct Choice {
    name: *const c_char,
    value: *const c_char,
}

#[repr(C)]
struct Settings {
    size: usize,
    task: i32,
    width: i32,
    height: i32,
    option_count: i32,
    options: *const Choice,
    stream: *mut c_void,
    progress: Option<extern "C" fn(f64, *mut c_void)>,
    progress_data: *mut c_void,
    region: *const u8,
    region_pitch: isize,
}

#[link(name = "parafield")]
extern "C" {
    fn parafield_error_text() -> *const c_char;
    fn parafield_create(settings: *const Settings, estimator: *mut *mut c_void) -> i32;
    fn parafield_destroy(estimator: *mut c_void) -> i32;
    fn parafield_push(
        estimator: *mut c_void,
        frame: *const Frame,
        output: *const Field,
        complete: *mut i32,
    ) -> i32;
}

const FLOW: i32 = 1;

/// An estimator of flow, freed with its owner.
struct Flow(*mut c_void);

impl Drop for Flow {
    fn drop(&mut self) {
        unsafe { parafield_destroy(self.0) };
    }
}

fn checked(code: i32) -> Result<(), String> {
    if code == 0 {
        return Ok(());
    }
    Err(unsafe { CStr::from_ptr(parafield_error_text()) }.to_string_lossy().into_owned())
}

impl Flow {
    fn new(width: i32, height: i32, options: &[(&str, &str)]) -> Result<Flow, String> {
        let text = |text: &str| CString::new(text).expect("no 0 in an option");
        let texts: Vec<_> = options.iter().map(|(name, value)| (text(name), text(value))).collect();
        let choices: Vec<_> = texts
            .iter()
            .map(|(name, value)| Choice { name: name.as_ptr(), value: value.as_ptr() })
            .collect();
        let settings = Settings {
            size: size_of::<Settings>(),
            task: FLOW,
            width,
            height,
            option_count: choices.len() as i32,
            options: choices.as_ptr(),
            ..unsafe { zeroed() }
        };
        let mut estimator = ptr::null_mut();
        checked(unsafe { parafield_create(&settings, &mut estimator) })?;
        Ok(Flow(estimator))
    }

    /// Adds a frame. Writes its flow to u and v, and returns whether there is one.
    fn push(
        &mut self,
        width: i32,
        height: i32,
        pixels: &[u8],
        u: &mut [f32],
        v: &mut [f32],
    ) -> Result<bool, String> {
        let length = (width * height) as usize;
        assert!(pixels.len() == length && u.len() == length && v.len() == length);
        let frame = Frame {
            size: size_of::<Frame>(),
            data: pixels.as_ptr().cast(),
            width,
            height,
            ..unsafe { zeroed() } // 8 bits gray, in host memory, no gaps between rows
        };
        let output = Field {
            size: size_of::<Field>(),
            width,
            height,
            u: Plane { data: u.as_mut_ptr().cast(), pitch: 0 },
            v: Plane { data: v.as_mut_ptr().cast(), pitch: 0 },
            ..unsafe { zeroed() }
        };
        let mut complete = 0;
        checked(unsafe { parafield_push(self.0, &frame, &output, &mut complete) })?;
        Ok(complete != 0)
    }
}

fn main() -> Result<(), String> {
    let (width, height) = (160, 120);
    let mut flow = Flow::new(width, height, &[("device", "cpu"), ("preset", "fast")])?;
    let mut u = vec![0f32; (width * height) as usize];
    let mut v = u.clone();
    for shift in [0, 3] {
        // a texture that moves by 3 px to the left
        let pixels: Vec<u8> = (0..width * height)
            .map(|i| ((i % width + shift) / 4, i / width / 4))
            .map(|(x, y)| (x * 37 + y * 91 + x * y * 53) as u8)
            .collect();
        flow.push(width, height, &pixels, &mut u, &mut v)?;
    }
    let middle = (height / 2 * width + width / 2) as usize;
    println!("flow ({:.1}, {:.1}) px", u[middle], v[middle]);
    let error = Flow::new(width, height, &[("method", "none")]).err();
    eprintln!("{}", error.expect("an error"));
    Ok(())
}
