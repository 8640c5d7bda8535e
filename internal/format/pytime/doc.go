// Package pytime reads and writes times as the Python reference does.
//
// The reference reads times in three places, each with its own rules:
//
//   - the slicing of events ([Parse]) tries six strptime forms and then
//     datetime.fromisoformat, after a little rewriting of Z and offsets;
//   - the finder reads metadata.created ([ParseCreated]) and the dates to
//     search between ([ParseFilter]) with datetime.fromisoformat alone.
//
// All of datetime.fromisoformat of Python 3.11 to 3.13 is here, accidents
// included: ISO weeks, basic forms, any character between date and time, a
// comma in place of the dot, fractions cut after six digits.
//
// A naive time, one without an offset, is taken to be in UTC. A time holds
// microseconds in the years 1 to 9999. Python also has offsets with a fraction
// of a second, which no [time.Location] can hold: the location made for one
// holds the whole seconds and is named like +01:02:03.500000. The instant is
// exact, and [Format] reads the fraction back from the name.
//
// Which characters are decimal digits is left to package unicode. It knows newer digits
// than Python 3.11; only text with digits of scripts added after Unicode 14 is read
// differently.
package pytime
