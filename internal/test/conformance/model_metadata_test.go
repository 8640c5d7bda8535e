package conformance

import (
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// incoming returns metadata that a program hands over.
func (m *model) incoming(metadata string) (raw, failed string) {
	switch {
	case kindOf(metadata) != pyjson.Object && m.f.by(metadataObject),
		!finite(metadata) && m.f.by(notFinite),
		deep(metadata) && m.f.by(tooDeep):
		return "", refused
	}
	if hasLone(metadata) && m.f.by(surrogateReplaced) {
		return paired(metadata), succeeded
	}
	return metadata, succeeded
}

// saveMetadata is the second half of save. We merge.
func (m *model) saveMetadata(metadata string) (failed string) {
	if m.f != nil && (m.sound(metadataFile) || m.sound(metadataBackup)) {
		disk, _ := m.readMetadata()
		metadata = m.merged(parseObject(disk), parseObject(metadata)).String()
	}
	return m.writeMetadata(metadata)
}

func (m *model) writeMetadata(metadata string) (failed string) {
	content := render(metadata, pyjson.Style{Indent: 2, Redact: true})
	same := m.has(metadataFile) && m.files[metadataFile] == content
	if same && m.sound(metadataBackup) && m.files[metadataBackup] != content && m.f.by(metadataUnchanged) {
		return succeeded
	}
	return m.write(metadataFile, content, hasLone(content))
}

// update is the store's update of metadata with updates, JSON. It returns the
// metadata, or why there is none.
func (m *model) update(updates string) (returned, failed string) {
	disk, failed := m.readMetadata()
	if failed == succeeded && kindOf(disk) != pyjson.Object {
		failed = refused
	}
	if failed != succeeded {
		return "", failed
	}
	listed := kindOf(updates) != pyjson.Object && m.f == nil
	if listed {
		updates, failed = pairs(updates)
	} else {
		updates, failed = m.incoming(updates)
	}
	if failed != succeeded {
		return "", failed
	}
	all := parseObject(disk).update(parseObject(updates)).String()
	failed = m.writeMetadata(all)
	if listed && failed == succeeded {
		return "", refused // the reference writes first, and fails on its log
	}
	return all, failed
}

// pairs is a list of names and values as an object, as Python takes it.
func pairs(raw string) (obj, failed string) {
	var all object
	if k := kindOf(raw); k != pyjson.Array && k != pyjson.String {
		return "", refused
	}
	for _, e := range elements(raw) {
		pair := elements(string(e))
		if pyjson.KindOf(e) != pyjson.Array || len(pair) != 2 || pyjson.KindOf(pair[0]) != pyjson.String {
			return "", refused
		}
		all = all.with(string(pyjson.AppendText(nil, pair[0])), string(pair[1]))
	}
	return all.String(), succeeded
}
