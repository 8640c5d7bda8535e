package sessiondir

// Marker is the file whose existence tells that a newer Python tool is
// appending to the transcript, or was killed while it did: until it is gone,
// the backup is the transcript.
const Marker = Transcript + ".append-pending"
