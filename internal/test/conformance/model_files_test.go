package conformance

import "slices"

// write replaces the file name after making it its own backup. lone tells
// that the content holds lone surrogates.
func (m *model) write(name, content string, lone bool) (failed string) {
	m.rotate(name)
	if lone && !m.f.by(surrogateKept) {
		return ioError
	}
	m.files[name] = content
	return succeeded
}

// rotate makes name its own backup: the reference whatever it holds, we only
// when it is sound, and when nothing is lost by it.
func (m *model) rotate(name string) {
	backup := name + ".backup"
	emptied := name == transcriptFile && m.has(name) && m.files[name] == "" && m.files[backup] != ""
	switch {
	case !m.there(name):
		if m.there(backup) && !m.sound(backup) && m.f.by(damageKept) {
			m.putAside(backup)
		}
	case emptied && m.emptied() && m.f.by(emptiedKept):
	case emptied && m.f.by(emptiedKept):
		m.putAside(backup)
		m.files[backup] = ""
	case m.sound(name) || !m.f.by(damageKept):
		m.files[backup] = m.files[name]
	default:
		m.putAside(name)
		if m.there(backup) && !m.sound(backup) {
			m.putAside(backup)
		}
	}
}

func (m *model) putAside(name string) {
	if m.has(name) {
		m.files[name+anyUTC] = m.files[name]
		delete(m.files, name)
	}
}

func (m *model) has(name string) bool {
	_, ok := m.files[name]
	return ok
}

func (m *model) isDir(name string) bool { return slices.Contains(m.dirs, name) }

// there reports whether name is a file or a directory.
func (m *model) there(name string) bool { return m.has(name) || m.isDir(name) }
