package conformance

import (
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// newerRead is what the newer tools' loading of a session gives: both halves,
// or why the first of them cannot be read.
type newerRead struct {
	Transcript, Metadata string
	Failed, Source       string
	Diagnostics          []sessionstore.Diagnostic // of a failure
}

// readNewer reads the files of a session as the newer tools do. It shares no
// code with the reader that it judges.
func readNewer(f files) newerRead {
	rows, found, ok := newerRows(f)
	if !ok {
		return newerRead{Failed: newerFailure("transcript"), Source: "transcript", Diagnostics: found}
	}
	md, failed := newerMetadata(f)
	if failed != succeeded {
		return newerRead{Failed: newerFailure("metadata"), Source: "metadata", Diagnostics: metadataFlaws(f)}
	}
	return newerRead{Transcript: listText(rows), Metadata: render(md, pyjson.Style{ASCII: true})}
}

func newerFailure(half string) string {
	return "Cannot read valid session " + half + " or its backup"
}

func metadataFlaws(f files) (found []sessionstore.Diagnostic) {
	for i, name := range []string{metadataFile, metadataBackup} {
		if _, ok := f[name]; ok {
			source := []string{"metadata", "metadata_backup"}[i]
			found = append(found, sessionstore.Diagnostic{Code: "invalid_file", Source: source})
		}
	}
	return found
}

// newerRows is the transcript half: the backup stands in for a file that is
// missing or not valid, and for any while the marker is there.
func newerRows(f files) (rows []string, found []sessionstore.Diagnostic, ok bool) {
	sources := []string{"transcript", "transcript_backup"}
	first := 0
	_, marked := f[sessiondir.Marker]
	if marked {
		found = append(found, sessionstore.Diagnostic{Code: "interrupted_append", Source: "transcript"})
		first = 1
	}
	there := marked
	for i, name := range []string{transcriptFile, transcriptBackup} {
		data, has := f[name]
		if !has || i < first {
			continue
		}
		there = true
		rows, bad := strictRows(data)
		if bad == 0 {
			if i == 1 {
				found = append(found, sessionstore.Diagnostic{Code: "recovered_backup", Source: "transcript"})
			}
			return rows, found, true
		}
		found = append(found, sessionstore.Diagnostic{Code: "invalid_file", Source: sources[i], Line: bad})
	}
	return nil, found, !there
}

// strictRows returns the rows of a transcript, or the number of the first
// line that is none.
func strictRows(data string) (rows []string, bad int) {
	for i, line := range strings.Split(data, "\n") {
		if strings.Trim(line, " \t\r\v\f") == "" {
			continue
		}
		if !isObject(line, pyjson.Strict) || !hasRole(line) {
			return nil, i + 1
		}
		rows = append(rows, strings.TrimPrefix(line, "\ufeff"))
	}
	return rows, 0
}

// hasRole reports whether an object has a role that is a text and not empty.
func hasRole(raw string) bool {
	role := parseObject(raw).get("role")
	return kindOf(role) == pyjson.String && textOf(role) != ""
}

// lost returns the names of files before a save that hold what no file holds
// after it: each half as it was read, and damaged bytes. The backup of a file
// that the older tools can read is a state that was replaced before.
func lost(before, after files) (names []string) {
	_, marked := before[sessiondir.Marker]
	for _, name := range []string{transcriptFile, metadataFile} {
		half := name == transcriptFile && marked
		if _, ok := before[name]; ok && !half && !kept(before[name], after) {
			names = append(names, name)
		}
		backup := name + ".backup"
		read := half || !newModel(&fired{}, "", before).sound(name)
		if _, ok := before[backup]; ok && read && !kept(before[backup], after) {
			names = append(names, backup)
		}
	}
	return names
}

// kept reports whether some file begins with data.
func kept(data string, in files) bool {
	for _, content := range in {
		if strings.HasPrefix(content, data) {
			return true
		}
	}
	return false
}

// validHalf reports whether name is there and can be read by the newer tools.
func validHalf(f files, name string) bool {
	data, ok := f[name]
	if name == metadataFile || name == metadataBackup {
		return ok && isObject(data, pyjson.Strict)
	}
	_, bad := strictRows(data)
	return ok && bad == 0
}

// beginsWith reports whether all begins with part.
func beginsWith(all, part []string) bool {
	return len(all) >= len(part) && slices.Equal(all[:len(part)], part)
}

// listText writes rows as the vectors write a transcript.
func listText(rows []string) string {
	return render("["+strings.Join(rows, ",")+"]", pyjson.Style{ASCII: true})
}
