// Package layers holds the face of the public packages, and what they are built of. What
// a package may import and call is in .golangci.yml, and what no line may say in .ci/run.
package layers
