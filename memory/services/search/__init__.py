"""What recall asks of the stores.

searching               a question: its words and its meaning, its times, its parts, and what stands beside those
broad_answers           what is asked as a whole: a time, what is open elsewhere, somebody
leg_weights             what each leg of the search has been worth to each user
"""
