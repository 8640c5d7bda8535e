package cosmos

import (
	"fmt"
	"net/http"
	"strings"
)

// A network that wants a sign-in, or a proxy, may answer in the place of every server,
// often with a page and the status 200. Such an answer tells nothing of the account,
// whatever its status: nobody knows whether the request was done.

// elsewhereError is an answer that is not from the service, without its content.
type elsewhereError struct {
	status int
	page   bool
}

func (e *elsewhereError) Error() string {
	what := "something else"
	if e.page {
		what = "a web page"
	}
	return fmt.Sprintf("what answered is not the account but %s with status %d: sign in to the network, or have its proxy pass requests to the account", what, e.status)
}

// NonRetriable tells the SDK to make the request once.
func (*elsewhereError) NonRetriable() {}

// checkService returns the error of an answer that is not from the service, nil
// for one that can be.
func checkService(answer *http.Response) error {
	if ofService(answer) {
		return nil
	}
	return &elsewhereError{answer.StatusCode, strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html")}
}

// ofService reports whether an answer can be from the service. The service marks its
// answers with headers of its own. Of emulators, some answers have none, but no page.
func ofService(answer *http.Response) bool {
	for name := range answer.Header {
		if strings.HasPrefix(strings.ToLower(name), "x-ms-") {
			return true
		}
	}
	kind := answer.Header.Get("Content-Type")
	return strings.HasPrefix(kind, "application/json") || kind == "" && answer.StatusCode == http.StatusNoContent
}
