package segment

import (
	"errors"
	"strconv"
	"strings"
)

// Kind is what the lines of a stream are.
type Kind byte

// The kinds of streams. A session has one transcript; of the others each
// device has its own, so that they cannot conflict.
const (
	KindTranscript   Kind = 't' // transcript.jsonl
	KindEvents       Kind = 'e' // events.jsonl
	KindPhases       Kind = 'p' // phase_outputs.jsonl
	KindConversation Kind = 'c' // session_conversation.jsonl
	KindStates       Kind = 'h' // state_history.jsonl
)

// String returns the letter of k.
func (k Kind) String() string { return string(rune(k)) }

// A Stream names a sequence of lines of a session: "t" for the transcript,
// "e-1f3a9c02" for the events of a device, "e-1f3a9c02.2" for those that the
// device began anew after its log had been replaced.
type Stream string

// Transcript is the stream of a session's transcript.
const Transcript Stream = "t"

// LogStream names a log of a device. Generations count from 1; dev8 is 8
// lower-case hexadecimal digits.
func LogStream(k Kind, dev8 string, generation int) Stream {
	if generation > 1 {
		dev8 += "." + strconv.Itoa(generation)
	}
	return Stream(k.String() + "-" + dev8)
}

// ParseStream checks the name of a stream.
func ParseStream(name string) (Stream, error) {
	s := Stream(name)
	if s == Transcript {
		return s, nil
	}
	dev := s.Device()
	if len(name) < 2 || !strings.Contains("epch", name[:1]) || len(dev) != 8 || strings.Trim(dev, "0123456789abcdef") != "" ||
		s != LogStream(s.Kind(), dev, s.Generation()) {
		return "", errors.New("parse stream: not the name of a stream")
	}
	return s, nil
}

// Kind returns what the lines of s are, 0 for the empty name.
func (s Stream) Kind() Kind {
	if s == "" {
		return 0
	}
	return Kind(s[0])
}

// Device returns the device of a log, "" for the transcript.
func (s Stream) Device() string {
	_, rest, _ := strings.Cut(string(s), "-")
	dev, _, _ := strings.Cut(rest, ".")
	return dev
}

// Generation returns how often the log was begun, 1 for the first time.
func (s Stream) Generation() int {
	_, text, found := strings.Cut(string(s), ".")
	n, err := strconv.Atoi(text)
	if !found || err != nil || n < 2 {
		return 1
	}
	return n
}

// deltas reports whether long lines are stored as differences: those of
// events, which repeat the whole conversation again and again.
func (s Stream) deltas() bool { return s.Kind() == KindEvents }
