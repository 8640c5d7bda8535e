package conformance

import (
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// history is the directory of one session in memory, as the newer tools save
// into it and, with rules in force, as this library does.
type history struct {
	f      *fired
	files  files
	linked bool // the backup is another name of the transcript
	meant  bool // this library emptied the transcript
}

// saveOptions are what a host of the newer tools says about a save.
type saveOptions struct {
	Incremental bool
	Merge       bool `json:"merge_metadata"`
	System      bool `json:"preserve_system"`
	Sanitizer   bool `json:"cli_sanitizer"`
}

// saving is one save: messages and metadata in JSON.
type saving struct {
	messages, metadata string
	options            saveOptions
}

// save is the save of a whole session. Nothing is written unless all that is
// there can be read.
func (h *history) save(s saving) (failed string) {
	rows, failed := h.rows(s)
	switch {
	case failed != succeeded:
		return failed
	case kindOf(s.metadata) != pyjson.Object, !finite(s.metadata):
		return refused
	case h.unusable(transcriptFile, s) || h.unusable(metadataFile, s):
		return unreadable
	}
	if failed := h.putRows(rows, s); failed != succeeded {
		return failed
	}
	return h.putMetadata(s)
}

// rows returns the lines that messages become.
func (h *history) rows(s saving) (rows []string, failed string) {
	for _, raw := range elements(s.messages) {
		if pyjson.KindOf(raw) != pyjson.Object || !hasRole(string(raw)) {
			return nil, refused
		}
		row := h.row(string(raw), s)
		if !finite(row) {
			return nil, refused
		}
		role, _ := pyjson.Lookup(raw, "role")
		system := pyjson.KeyIs(role, "system") || pyjson.KeyIs(role, "developer")
		if system && (!s.options.System || h.f.by(systemNotStored)) {
			continue
		}
		if hasLone(row) && h.f.by(surrogatesGiven) {
			row = paired(row)
		}
		rows = append(rows, row)
	}
	return rows, succeeded
}

// row is one message. The newer store leaves it to its caller to sanitise it.
func (h *history) row(raw string, s saving) string {
	plain := render(raw, pyjson.Style{})
	line, err := pyjson.AppendMessage(nil, []byte(raw), pyjson.Style{})
	if err != nil {
		return "not JSON: " + err.Error()
	}
	if s.options.Sanitizer || string(line) != plain && h.f.by(alwaysSanitised) {
		return string(line)
	}
	return plain
}

// unusable reports whether the file name and its backup are such that nothing
// is saved.
func (h *history) unusable(name string, s saving) bool {
	backup := name + ".backup"
	if name == transcriptFile && h.has(sessiondir.Marker) {
		return !h.good(backup, s)
	}
	return h.has(name) && !h.good(name, s) && !h.good(backup, s) && !h.f.by(damagedReplaced)
}

// good reports whether name is there and can be read: by the newer tools
// strictly, by this library as the older tools do.
func (h *history) good(name string, s saving) bool {
	strict := validHalf(h.files, name)
	theirs := strict && (strings.HasPrefix(name, metadataFile) || !s.options.Incremental || encodable(h.files[name]))
	ours := newModel(&fired{}, "", h.files).sound(name)
	r := tolerantSave
	if strict != theirs {
		r = noIndexedReading
	}
	if ours != theirs && h.f.by(r) {
		return ours
	}
	return theirs
}

// encodable reports whether all rows of a transcript can be encoded again,
// which the newer tools need to compare them.
func encodable(data string) bool {
	rows, _ := strictRows(data)
	list := "[" + strings.Join(rows, ",") + "]"
	return !hasLone(list) && finite(list)
}

// putMetadata is the second half of a save.
func (h *history) putMetadata(s saving) (failed string) {
	content := render(h.merged(s), pyjson.Style{Indent: 2})
	same := h.has(metadataFile) && h.files[metadataFile] == content
	if same && h.good(metadataBackup, s) && h.files[metadataBackup] != content && h.f.by(equalNotRewritten) {
		return succeeded
	}
	if h.good(metadataFile, s) {
		h.files[metadataBackup] = h.files[metadataFile]
	} else {
		h.clear(metadataFile, s)
	}
	if hasLone(content) && !h.f.by(surrogatesWritten) {
		return ioError
	}
	h.files[metadataFile] = content
	return succeeded
}

// merged is the metadata that a save leaves.
func (h *history) merged(s saving) string {
	if hasLone(s.metadata) && h.f.by(surrogatesGiven) {
		s.metadata = paired(s.metadata)
	}
	disk := "{}"
	for _, name := range []string{metadataBackup, metadataFile} {
		if h.good(name, s) {
			disk = strings.TrimPrefix(h.files[name], "\ufeff")
		}
	}
	alone := mergeCase{Current: "{}", Incoming: s.metadata}
	both := mergeCase{Current: disk, Incoming: s.metadata}
	differ := h.f != nil && both.predict(&fired{}) != alone.predict(&fired{})
	if s.options.Merge || differ && h.f.by(alwaysMerged) {
		return both.predict(h.f)
	}
	return alone.predict(h.f)
}

// clear makes way for the file name, which is damaged or not there. The newer
// tools overwrite it; we keep damaged bytes aside.
func (h *history) clear(name string, s saving) {
	for _, n := range []string{name, name + ".backup"} {
		if h.has(n) && !h.good(n, s) && h.f.by(damagedNotLost) {
			h.putAside(n)
		}
	}
}

func (h *history) putAside(name string) {
	h.files[h.files.free(name+anyUTC)] = h.files[name]
	delete(h.files, name)
}

func (h *history) has(name string) bool {
	_, ok := h.files[name]
	return ok
}
