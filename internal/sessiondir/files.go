package sessiondir

// Marker is the file whose existence tells that a newer Python tool is
// appending to the transcript, or was killed while it did: until it is gone,
// the backup is the transcript.
const Marker = Transcript + ".append-pending"

// Same reports whether two stamps are of one unchanged file.
func (s Stamp) Same(t Stamp) bool {
	return s.SameContent(t) && s.Ctime.Equal(t.Ctime)
}

// SameContent reports whether two stamps are of one file that was not written
// between; its names may have changed.
func (s Stamp) SameContent(t Stamp) bool {
	return s.Dev == t.Dev && s.Inode == t.Inode && s.Size == t.Size && s.Mtime.Equal(t.Mtime)
}

// SameFile reports whether two stamps are of one file, whatever it holds, on
// systems that tell.
func (s Stamp) SameFile(t Stamp) bool { return s.Inode != 0 && s.Inode == t.Inode && s.Dev == t.Dev }
