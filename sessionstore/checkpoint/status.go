package checkpoint

// Status is the status of a session.
type Status string

// The statuses of a session.
const (
	Initialized Status = "initialized"
	InProgress  Status = "in_progress"
	Completed   Status = "completed"
	Interrupted Status = "interrupted"
	Aborted     Status = "aborted"
	Failed      Status = "error"
)

func statuses() []string {
	return []string{
		string(Initialized), string(InProgress), string(Completed),
		string(Interrupted), string(Aborted), string(Failed),
	}
}
