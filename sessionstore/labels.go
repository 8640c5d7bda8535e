package sessionstore

// The variables of the environment that label a new session.
const (
	visibilityVariable = "AMPLIFIER_SESSION_VISIBILITY"
	purposeVariable    = "AMPLIFIER_SESSION_PURPOSE"
)

// Labels say for whom a session is made. They belong into the metadata of a new
// root session, before anything runs, and are never changed later: a session
// that is resumed, and an agent's session, get none. See [KindOf].
type Labels struct {
	Visibility string // chat, or internal: lists do not show it to people
	Purpose    string // of an internal session; "": not told
}

// NewLabels returns the labels of a new root session as the newest CLI chooses
// them: internal if AMPLIFIER_SESSION_VISIBILITY is exactly that, else chat. An
// internal one has the purpose AMPLIFIER_SESSION_PURPOSE, if that is a small
// letter with at most 79 of a-z, 0-9, "_", "." and "-" behind it. getenv is
// [os.Getenv] or the like.
func NewLabels(getenv func(name string) string) Labels {
	if getenv(visibilityVariable) != "internal" {
		return Labels{Visibility: "chat"}
	}
	l := Labels{Visibility: "internal"}
	if purpose := getenv(purposeVariable); isPurpose(purpose) {
		l.Purpose = purpose
	}
	return l
}

// Set sets session_visibility, and session_purpose if there is a purpose.
func (l Labels) Set(md *Metadata) error {
	if err := md.Set("session_visibility", l.Visibility); err != nil || l.Purpose == "" {
		return err
	}
	return md.Set("session_purpose", l.Purpose)
}

// maxPurpose is how many bytes a purpose may have.
const maxPurpose = 80

func isPurpose(text string) bool {
	if text == "" || len(text) > maxPurpose || text[0] < 'a' || text[0] > 'z' {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '.' && c != '-' {
			return false
		}
	}
	return true
}
