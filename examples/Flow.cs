// SPDX-License-Identifier: MIT
// Flow of two frames by the C interface, from C#: mcs -unsafe Flow.cs, or dotnet with AllowUnsafeBlocks.
using System;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Sequential)]
unsafe struct Frame {
  public UIntPtr size;
  public void* data;
  public IntPtr pitch;
  public int width, height, format, memory, device;
  public float black, white;
  public int reserved;
}

[StructLayout(LayoutKind.Sequential)]
unsafe struct Plane {
  public void* data;
  public IntPtr pitch;
}

[StructLayout(LayoutKind.Sequential)]
struct Field {
  public UIntPtr size;
  public int width, height, memory, device;
  public Plane u, v, d, moving, valid, confidence;
}

[StructLayout(LayoutKind.Sequential)]
struct Option {
  public IntPtr name, value;
}

[StructLayout(LayoutKind.Sequential)]
unsafe struct Settings {
  public UIntPtr size;
  public int task, width, height, optionCount;
  public Option* options;
  public IntPtr stream, progress, progressData, region, regionPitch;
}

static unsafe class Program {
  const string library = "parafield";
  const int flow = 1;

  [DllImport(library)]
  static extern IntPtr parafield_error_text();
  [DllImport(library)]
  static extern int parafield_create(Settings* settings, IntPtr* estimator);
  [DllImport(library)]
  static extern int parafield_destroy(IntPtr estimator);
  [DllImport(library)]
  static extern int parafield_push(IntPtr estimator, Frame* frame, Field* output, int* complete);

  static void Check(int code) {
    if (code != 0) throw new Exception(Marshal.PtrToStringAnsi(parafield_error_text()));
  }

  static void Main() {
    const int width = 160, height = 120;
    var device = new Option {
      name = Marshal.StringToHGlobalAnsi("device"), value = Marshal.StringToHGlobalAnsi("cpu")
    };
    var settings = new Settings {
      size = (UIntPtr)sizeof(Settings), task = flow, width = width, height = height, optionCount = 1, options = &device
    };
    IntPtr estimator;
    Check(parafield_create(&settings, &estimator));
    var pixels = new byte[width * height];
    float[] u = new float[width * height], v = new float[width * height];
    fixed(byte* data = pixels) fixed(float* toU = u, toV = v) {
      var frame = new Frame { size = (UIntPtr)sizeof(Frame), data = data, width = width, height = height };
      var output = new Field { size = (UIntPtr)sizeof(Field), width = width, height = height };
      output.u.data = toU;
      output.v.data = toV;
      int complete;
      foreach (int shift in new[] { 0, 3 }) {  // a texture that moves by 3 px to the left
        for (int i = 0; i < pixels.Length; ++i) {
          int x = (i % width + shift) / 4, y = i / width / 4;
          pixels[i] = (byte)(x * 37 + y * 91 + x * y * 53);
        }
        Check(parafield_push(estimator, &frame, &output, &complete));
      }
    }
    Check(parafield_destroy(estimator));
    Marshal.FreeHGlobal(device.name);
    Marshal.FreeHGlobal(device.value);
    int middle = height / 2 * width + width / 2;
    Console.WriteLine(FormattableString.Invariant($"flow ({u[middle]:F1}, {v[middle]:F1}) px"));
  }
}
