// Package picture reads what a picture in base64 says of itself: its type, its width and
// height, whether it moves, and whether it is whole. It decodes no pixels.
//
// The sources of the formats: PNG (W3C, 2003), JPEG (ITU-T T.81), GIF89a, the WebP container
// (developers.google.com/speed/webp/docs/riff_container), HEIF (ISO/IEC 23008-12), BMP.
package picture
