package conformance

import (
	"maps"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// putRows is the first half of a save.
func (h *history) putRows(rows []string, s saving) (failed string) {
	lone := hasLone("[" + strings.Join(rows, ",") + "]") // the newer tools fail when they encode
	switch {
	case h.has(sessiondir.Marker):
		if lone {
			return ioError
		}
		delete(h.files, sessiondir.Marker)
	case h.good(transcriptFile, s) && h.files[transcriptFile] == "" && h.files[transcriptBackup] != "" && h.f != nil:
		h.fill(rows, s)
		return succeeded
	case h.good(transcriptFile, s):
		return h.putOver(rows, lone, s)
	default:
		h.clear(transcriptFile, s)
	}
	if lone {
		return ioError
	}
	h.files[transcriptFile] = lines(rows)
	h.meant = len(rows) == 0
	return succeeded
}

// fill is our save over an empty transcript that has a backup: that stays
// where a load recovers it, and is put aside otherwise.
func (h *history) fill(rows []string, s saving) {
	recovered := newModel(&fired{}, "", h.files).emptied() && !h.meant
	if !recovered && len(rows) == 0 {
		if !s.options.Incremental {
			h.f.by(equalNotRewritten)
		}
		return
	}
	h.f.by(emptyNoBackup)
	if !recovered {
		h.putAside(transcriptBackup)
		h.files[transcriptBackup] = ""
	}
	h.files[transcriptFile] = lines(rows)
	h.meant = len(rows) == 0
}

// putOver saves rows in the place of a transcript that can be read. The newer
// tools append in place when they are told so and the values on disk are the
// first of rows; we add to the file whenever its lines are.
func (h *history) putOver(rows []string, lone bool, s saving) (failed string) {
	main := h.files[transcriptFile]
	have := diskLines(main)
	ended := main == "" || strings.HasSuffix(main, "\n")
	values := s.options.Incremental && ended && !h.linked && beginsWith(sorted(rows), sorted(have))
	switch {
	case lone && values:
		return ioError
	case lone:
		h.files[transcriptBackup] = main
		return ioError
	}
	theirs, ours := h.rewritten(rows), h.rewritten(rows)
	if values {
		theirs = h.appended(have, rows)
	}
	exact := beginsWith(rows, have)
	if exact {
		ours = h.extended(have, rows)
	}
	if h.f == nil || maps.Equal(theirs, ours) {
		h.files = theirs
		return succeeded
	}
	h.tell(theirs, ours, values, exact)
	h.files, h.meant = ours, ours[transcriptFile] == ""
	return succeeded
}

// tell notes why our files are others than theirs.
func (h *history) tell(theirs, ours files, values, exact bool) {
	switch {
	case values && !exact:
		h.f.by(bytesCompared)
	case !values && ours[transcriptFile] == h.files[transcriptFile]:
		h.f.by(equalNotRewritten)
	case !values:
		h.f.by(extendsKnown)
	default:
		if ours[transcriptFile] != theirs[transcriptFile] {
			h.f.by(insertionOrder)
		}
		if ours[transcriptBackup] != theirs[transcriptBackup] {
			h.f.by(backupExact)
		}
	}
}

// with returns the files after main took the place of the transcript.
func (h *history) with(main, backup string) files {
	f := maps.Clone(h.files)
	f[transcriptFile], f[transcriptBackup] = main, backup
	return f
}

// rewritten are the files after a save of the whole transcript.
func (h *history) rewritten(rows []string) files {
	return h.with(lines(rows), h.files[transcriptFile])
}

// extended are the files after we added what rows has more than the disk.
func (h *history) extended(have, rows []string) files {
	if len(have) == len(rows) {
		return h.files
	}
	main := h.files[transcriptFile]
	added := main
	if main != "" && !strings.HasSuffix(main, "\n") {
		added += "\n"
	}
	return h.with(added+lines(rows[len(have):]), main)
}

// appended are the files after the newer tools appended: members sorted, and
// the backup completed by the rows that it lacked.
func (h *history) appended(have, rows []string) files {
	if len(have) == len(rows) {
		return h.files
	}
	main, backup := h.files[transcriptFile], h.files[transcriptBackup]
	old := diskLines(backup)
	_, bad := strictRows(backup)
	complete := bad == 0 && (backup == "" || strings.HasSuffix(backup, "\n")) && beginsWith(sorted(have), sorted(old))
	if h.has(transcriptBackup) && complete {
		backup += fromRow(main, len(old))
	} else {
		backup = main
	}
	return h.with(main+lines(sorted(rows[len(have):])), backup)
}

// fromRow returns data from its row n on, counted from 0.
func fromRow(data string, n int) string {
	at := 0
	for line := range strings.Lines(data) {
		if strings.TrimSpace(line) != "" {
			if n == 0 {
				return data[at:]
			}
			n--
		}
		at += len(line)
	}
	return ""
}

// diskLines returns the lines of a transcript that are not blank.
func diskLines(data string) (have []string) {
	for line := range strings.Lines(data) {
		if line = strings.TrimSuffix(line, "\n"); len(pyjson.TrimSpace([]byte(line))) > 0 {
			have = append(have, line)
		}
	}
	return have
}

// sorted returns rows as the newer tools compare and append them.
func sorted(rows []string) []string {
	out := make([]string, 0, len(rows))
	for _, row := range rows {
		out = append(out, render(strings.TrimPrefix(row, "\ufeff"), pyjson.Style{SortKeys: true}))
	}
	return out
}
