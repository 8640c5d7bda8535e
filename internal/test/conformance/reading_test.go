package conformance

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// flaw is what makes a file unfit to be read.
type flaw int

const (
	none        flaw = iota
	syntax           // the reference tries the backup
	undecodable      // the reference raises, and the same when it writes
	worse            // the reference raises
	noObject         // metadata of another kind, which is no flaw for the reference
)

func flawOf(err error) flaw {
	var e *pyjson.Error
	switch {
	case err == nil:
		return none
	case errors.As(err, &e) && e.Reason == pyjson.Syntax:
		return syntax
	case errors.As(err, &e) && e.Reason == pyjson.BadUTF8:
		return undecodable
	}
	return worse
}

// sound reports whether name can be read by our rules.
func (m *model) sound(name string) bool {
	if strings.HasPrefix(name, metadataFile) {
		return m.has(name) && m.metadataFlaw(name) == none
	}
	_, f := m.parse(name)
	return m.has(name) && f == none
}

func (m *model) metadataFlaw(name string) flaw {
	if m.isDir(name) {
		return syntax
	}
	raw := []byte(m.files[name])
	f := flawOf(pyjson.Check(raw, pyjson.Tolerant))
	if f == none && pyjson.KindOf(pyjson.Trim(raw)) != pyjson.Object {
		return noObject
	}
	return f
}

// passes reports whether a flaw of a file leads on to the backup. If not, the
// file is taken as it is, or reading fails.
func (m *model) passes(f flaw) bool {
	switch f {
	case syntax:
		return true
	case worse, undecodable:
		return m.f.by(recoversFurther)
	case noObject:
		return m.f.by(metadataObject)
	}
	return false
}

// readMetadata is the metadata half of a load.
func (m *model) readMetadata() (raw, failed string) {
	there := false
	for _, name := range []string{metadataFile, metadataBackup} {
		if !m.there(name) {
			continue
		}
		f := m.metadataFlaw(name)
		if m.passes(f) {
			there = true
			continue
		}
		switch f {
		case worse:
			return "", refused
		case undecodable:
			return "", unreadable
		}
		m.recovered = m.recovered || there
		return m.files[name], succeeded
	}
	if !there {
		return "{}", succeeded
	}
	m.damaged = m.f.by(damageReported)
	return object{
		{"session_id", text(m.id)}, {"recovered", "true"}, {"recovery_time", text(anyTime)},
	}.String(), succeeded
}

// parse returns the rows in the file name that can be read, and its first
// flaw.
func (m *model) parse(name string) (rows []string, first flaw) {
	if m.isDir(name) {
		return nil, syntax
	}
	rows, flaws := m.parseAll(name)
	switch {
	case slices.Contains(flaws, undecodable):
		return rows, undecodable // the reference decodes before it reads lines
	case len(flaws) > 0:
		return rows, flaws[0]
	}
	return rows, none
}

// parseAll returns the rows that can be read, and the flaws of the others.
func (m *model) parseAll(name string) (rows []string, flaws []flaw) {
	for row, f := range rowsIn(m.f, m.files[name]) {
		if f == none {
			rows = append(rows, row)
		} else {
			flaws = append(flaws, f)
		}
	}
	return rows, flaws
}

// rowsIn returns the rows of a transcript, each with its flaw.
func rowsIn(f *fired, data string) iter.Seq2[string, flaw] {
	return func(yield func(string, flaw) bool) {
		for _, line := range strings.Split(data, "\n") {
			parts := strings.Split(line, "\r")
			if len(parts) > 1 && isValue(string(pyjson.TrimSpace([]byte(line)))) && !plain(parts) && f.by(crInsideRow) {
				parts = []string{line}
			}
			for _, part := range parts {
				value := pyjson.TrimSpace([]byte(part))
				if len(value) > 0 && !yield(string(value), flawOf(pyjson.Check(value, pyjson.Tolerant))) {
					return
				}
			}
		}
	}
}

// plain reports whether at most one of parts holds anything.
func plain(parts []string) bool {
	full := 0
	for _, p := range parts {
		if len(bytes.TrimSpace([]byte(p))) > 0 {
			full++
		}
	}
	return full <= 1
}

// emptied reports whether the transcript is empty by chance, as a power cut
// leaves it: the backup has rows, the session was not rewound, and the metadata
// count turns. Where the metadata have no turn_count, the order of the files'
// times decides. [place.put] and [saveOld] write the backup first, so there the
// transcript was emptied on purpose.
func (m *model) emptied() bool {
	if !m.has(transcriptFile) || m.files[transcriptFile] != "" || m.rewound() {
		return false
	}
	rows, f := m.parse(transcriptBackup)
	return f == none && len(rows) > 0 && m.turns() > 0
}

// turns is how many turns the metadata counts, 0 where it does not.
func (m *model) turns() int {
	md := metadataFile
	if !m.sound(md) {
		md = metadataBackup
	}
	if !m.sound(md) {
		return 0
	}
	turns, _ := strconv.Atoi(parseObject(m.files[md]).get("turn_count"))
	return turns
}

// readTranscript is the transcript half of a load.
func (m *model) readTranscript() (rows []string, failed string) {
	if m.emptied() && m.f.by(emptiedRecovered) {
		m.recovered = true
		rows, _ := m.parse(transcriptBackup)
		return rows, succeeded
	}
	there := false
	var most []string
	for _, name := range []string{transcriptFile, transcriptBackup} {
		if !m.there(name) {
			continue
		}
		rows, f := m.parse(name)
		if f == none {
			m.recovered = m.recovered || there
			return rows, succeeded
		}
		if !m.passes(f) {
			return nil, unreadable
		}
		there = true
		if len(rows) > len(most) {
			most = rows
		}
	}
	if there && m.f.by(damageReported) {
		m.damaged = true
		return most, succeeded
	}
	if !there && m.turns() > 0 && m.f.by(missingReported) {
		m.damaged = true
	}
	return nil, succeeded
}

// rewound reports whether a tool that rewinds says that it did so after the
// files were made, which is now.
func (m *model) rewound() bool {
	for name := range m.files {
		at, ok := strings.CutPrefix(name, transcriptFile+".bak-pre-rewind-")
		if ok && at >= time.Now().UTC().Add(-time.Minute).Format("20060102150405") {
			return true
		}
	}
	return false
}
