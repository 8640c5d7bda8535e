package vfs

// kind is the kind of a name in the sessions directory.
type kind byte

const (
	directory kind = 'd'
	symlink   kind = 'l'
	unknown   kind = '?' // the file system does not report it
	other     kind = '-' // never a session
)

// OfSystem reports whether name belongs to a directory that file systems, network storage
// and Windows make by themselves. It is never a session or a project.
func OfSystem(name string) bool {
	switch name {
	case "lost+found", "@eaDir", "@Recycle", "#recycle", "#snapshot", "$RECYCLE.BIN", "System Volume Information":
		return true
	}
	return false
}

// appendName adds a name to the text of a listing, unless it begins with a dot or cannot
// be the name of a session's directory.
func appendName[T string | []byte](text []byte, name T, k kind) []byte {
	if k == other || len(name) > 0 && name[0] == '.' || OfSystem(string(name)) {
		return text
	}
	return append(append(append(text, byte(k)), name...), 0)
}
