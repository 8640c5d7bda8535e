// Package pyjson reads and writes JSON as Python's json module does, at the level of bytes.
//
// Values are raw JSON in a []byte and stay so: nothing is turned into maps. [Check] decides whether text is a value,
// [Members], [Elements], [Lookup] and [Text] look into one, [Splice] and [Remove] change one member and keep every other
// byte. [Append] writes a value anew exactly as json.dumps would after json.loads; [AppendMessage] does the same after
// the reference's sanitiser of chat messages.
//
// A value is a text that Check accepted. The reading functions do not check again: on
// other bytes they never panic, but may return wrong results. The writing functions do
// check, and refuse anything but a value.
//
// Python's dialect differs from RFC 8259 and from encoding/json: NaN and infinities are
// numbers, integers keep their digits and are another kind than floats, escaped lone
// surrogates are characters, the last of several members of one name counts, at the place
// of the first.
//
// All functions are pure, linear in the size of the text however deep it is nested, and safe for concurrent use. No
// error ever holds text of the value, except well-known names of members.
package pyjson
