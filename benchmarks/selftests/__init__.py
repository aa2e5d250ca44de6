"""What is measured of the project itself: repair, statistics, and scores of transcripts."""
